"""Graph files of other programs: what NetworkX, SciPy, PyTorch and DuckDB read, with the columns a table would have."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from featprop.errors import FeatpropError, FileError, MissingExtraError, quote_error
from featprop.graph import Graph
from featprop.sources.building import build_graph
from featprop.sources.databases import quoted, reading
from featprop.sources.delimited import HEAD_BYTES, opened, table_suffix
from featprop.sources.description import GraphDescription
from featprop.sources.naming import END_NAMES, NEO4J_HEADER
from featprop.sources.npz import graph_from_npz
from featprop.sources.objects import graph_from_columns, graph_from_networkx, weights_of, without_drawing
from featprop.sources.tables import Tables

EDGE_LISTS = (".txt", ".edges", ".edgelist", ".el", ".dat", ".wel", ".ncol")
XML_DECLARATIONS = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
COMMENT_MARKS = "#%"
NODES_KEY = r'"(nodes|elements)"\s*:\s*[\[{]'
BRACED_WEIGHT = r"""['"]weight['"]\s*:\s*([-+.\deE]+)"""
"""The weight in the attributes that NetworkX writes after the ends of an edge."""

Reader = Callable[[Path], Graph]


def graph_format(path: Path) -> Reader | None:
    """Return what reads a graph file, None for a table, a database or a description."""
    suffix = table_suffix(path)
    if suffix in READERS:
        return READERS[suffix]
    if suffix == ".json" and _is_node_link(path):
        return read_json_graph
    if suffix in EDGE_LISTS and not _is_table(path):
        return read_edge_list
    return None


def read_with_networkx(path: Path) -> Graph:
    """Read GraphML, GEXF, GML or Pajek."""
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError(f"Reading {path.suffix} files", "networkx", "networkx") from error
    suffix = table_suffix(path)
    with damaged(path), opened(path) as file:
        content = file.read()
        if suffix in (".graphml", ".gexf"):
            if XML_DECLARATIONS.search(content):
                raise ValueError("its XML declares a document type or entities")
            read = nx.read_graphml if suffix == ".graphml" else nx.read_gexf
            graph = read(io.BytesIO(content))
        elif suffix == ".gml":
            lines = content.decode("utf-8-sig").splitlines()
            try:
                graph = nx.parse_gml(lines)
            except nx.NetworkXError as error:
                if "label" not in str(error):
                    raise
                graph = nx.parse_gml(lines, label="id")
        else:
            graph = nx.parse_pajek(content.decode("utf-8-sig"))
            for _, attributes in graph.nodes(data=True):
                attributes.pop("id", None)
    with damaged(path):
        return graph_from_networkx(graph)


def read_json_graph(path: Path) -> Graph:
    """Read node-link JSON of NetworkX, D3 or Cytoscape."""
    with damaged(path), opened(path) as file:
        content = json.loads(file.read())
        elements = content.get("elements", content)
        groups = elements["nodes"], elements.get("links", elements.get("edges"))
        nodes, links = ([each.get("data", each) for each in group] for group in groups)
        key = next((name for name in ("id", "name", "key") if nodes and all(name in node for node in nodes)), None)
        ids = list(range(len(nodes))) if key is None else [node[key] for node in nodes]
        position = {node: place for place, node in enumerate(ids)}
        if len(position) < len(ids):
            raise ValueError(f"several nodes of one {key}")
        ends = [[_end(link[end]) for end in ("source", "target")] for link in links]
        if any(end not in position for pair in ends for end in pair):
            position = {place: place for place in range(len(ids))}  # D3 numbers the nodes
        if strange := [end for pair in ends for end in pair if end not in position]:
            raise ValueError(f"a link to {strange[0]!r}, which is not a node")
        places = np.array([[position[end] for end in pair] for pair in ends], dtype=np.int64).reshape(-1, 2)
        weights = weights_of([link.get("weight", link.get("value")) for link in links])
        names = list(dict.fromkeys(str(name) for node in nodes for name in node if name != key))
        columns = {name: [node.get(name) for node in nodes] for name in names}
        columns = {name: values for name, values in columns.items() if list(map(str, values)) != list(map(str, ids))}
    return graph_from_columns(ids, without_drawing(columns), places, weights)


def read_edge_list(path: Path) -> Graph:
    """Read an edge list or an adjacency list: two ends and maybe a weight, or a node and its neighbours, per line."""
    with Tables() as tables:
        tokens = (
            f"SELECT regexp_split_to_array(trim(regexp_replace(line, '\\{{.*', '')), '[\\s,;]+') AS t, "
            f"regexp_extract(line, {quoted(BRACED_WEIGHT)}, 1) AS braced "
            f"FROM {tables.lines(path)} WHERE regexp_matches(line, '^\\s*[^\\s#%]')"
        )
        with reading(path):
            execute = tables.connection.execute
            least, most, odd, lone = execute(
                "SELECT min(len(t)), max(len(t)), count(*) FILTER (len(t) NOT IN (2, 3)), "
                f"arg_min(t[1], len(t)) FROM ({tokens})"
            ).fetchall()[0]
            if least is None:
                raise FileError(f"{path} has no edges.", path=path)
            if table_suffix(path) == ".adjlist" or most > 4 or (least < most and odd):
                ends = "t[1] AS source, unnest(CASE WHEN len(t) > 1 THEN t[2:] ELSE t END) AS target"
                execute(f"CREATE TEMP TABLE edges AS SELECT {ends} FROM ({tokens})")
            elif least < 2:
                raise FileError(f"{path} has a line with one word: {lone!r}.", hint="An edge has two ends.", path=path)
            else:
                weight = "coalesce(nullif(braced, ''), t[3]) AS weight"
                execute(f"CREATE TEMP TABLE edges AS SELECT t[1] AS source, t[2] AS target, {weight} FROM ({tokens})")
                if not execute("SELECT count(weight) FROM edges").fetchall()[0][0]:
                    execute("ALTER TABLE edges DROP COLUMN weight")
        edges = tables.described(str(path), "edges", typed=False)
        return build_graph(tables, GraphDescription(edges=str(path)), None, edges)


def read_matrix_market(path: Path) -> Graph:
    """Read an adjacency matrix in the MatrixMarket format."""
    from scipy.io import mmread

    with damaged(path):
        matrix = mmread(path, spmatrix=False)
        if not sp.issparse(matrix):
            raise ValueError("a dense array rather than a sparse matrix of edges")
        if matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"a matrix of shape {matrix.shape}, which is not square")
        return Graph.from_scipy(matrix.tocsr())


def read_npz(path: Path) -> Graph:
    """Read an archive of NumPy arrays."""
    with damaged(path):
        return graph_from_npz(path)


def read_torch(path: Path) -> Graph:
    """Read a PyG `Data`, or a dictionary of tensors, through PyTorch's loader that runs no code of the file."""
    try:
        import torch
        from torch_geometric.data import Data
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import EdgeStorage, GlobalStorage, NodeStorage
    except ImportError as error:
        package = (error.name or "torch").partition(".")[0]
        raise MissingExtraError("Reading .pt files", "pyg", package) from error
    classes = {Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, NodeStorage, EdgeStorage}
    classes -= set(torch.serialization.get_safe_globals())  # what PyG allows itself stays allowed afterwards
    try:
        with torch.serialization.safe_globals(list(classes)):
            content = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # a damaged file can raise anything
        raise FileError(
            f"{path} holds objects that PyTorch does not load safely: {quote_error(error)}.",
            hint="Save a torch_geometric.data.Data, or a dictionary of edge_index, x and y, with torch.save.",
            path=path,
        ) from error
    while isinstance(content, list | tuple) and content:
        content = content[0]
    with damaged(path):
        if isinstance(content, dict):
            names = ("x", "edge_index", "y", "edge_weight", "edge_attr")
            content = Data(**{name: content[name] for name in names if name in content})
        return Graph.from_pyg(content)


READERS: dict[str, Reader] = {
    ".graphml": read_with_networkx,
    ".gexf": read_with_networkx,
    ".gml": read_with_networkx,
    ".net": read_with_networkx,
    ".paj": read_with_networkx,
    ".adjlist": read_edge_list,
    ".mtx": read_matrix_market,
    ".npz": read_npz,
    ".pt": read_torch,
    ".pth": read_torch,
}


@contextmanager
def damaged(path: Path) -> Iterator[None]:
    """Turn what a reader raises about a file into one clear error."""
    try:
        yield
    except (FeatpropError, KeyboardInterrupt):
        raise
    except Exception as error:  # readers of other libraries raise nearly anything about a damaged file
        kind = table_suffix(path).lstrip(".")
        raise FileError(
            f"{path} cannot be read as {kind}: {quote_error(error)}.", hint="Export it again.", path=path
        ) from error


def _is_node_link(path: Path) -> bool:
    """Return whether a JSON file is an object with nodes, which may follow its links, rather than a table."""
    text = _read_text(path, HEAD_BYTES).lstrip()
    if text.startswith("{") and not re.search(NODES_KEY, text):
        text = _read_text(path)
    return text.startswith("{") and re.search(NODES_KEY, text) is not None


def _is_table(path: Path) -> bool:
    """Return whether a text file has a header that names the ends of edges or is one of Neo4j."""
    lines = _read_text(path, HEAD_BYTES).splitlines()
    first = next((line for line in lines if line.strip() and line.lstrip()[0] not in COMMENT_MARKS), "")
    titles = re.split(r"[\t,;|]", first)
    names = {title.strip().strip('"').casefold() for title in titles}
    return any(set(ends) <= names for ends in END_NAMES) or any(map(NEO4J_HEADER.fullmatch, titles))


def _read_text(path: Path, size: int | None = None) -> str:
    with opened(path) as file:
        return str(file.read(size).decode("utf-8-sig", "replace"))


def _end(value: Any) -> Any:
    """Return the id of an end: D3 replaces it by the node itself."""
    return value.get("id", value.get("index")) if isinstance(value, dict) else value
