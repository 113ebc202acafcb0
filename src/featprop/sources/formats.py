"""Graph files of other programs: what NetworkX, SciPy, PyTorch and DuckDB read, with the columns a table would have."""

from __future__ import annotations

import io
import json
import logging
import re
import shutil
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from featprop.errors import FeatpropError, FileError, MissingExtraError, quote_error
from featprop.graph import Graph
from featprop.ids import is_a
from featprop.sources.building import build_graph
from featprop.sources.databases import quoted
from featprop.sources.description import GraphDescription
from featprop.sources.naming import END_NAMES, NEO4J_HEADER
from featprop.sources.npz import read_npz
from featprop.sources.objects import graph_from_columns, graph_from_networkx
from featprop.sources.tables import Tables, detect_encoding, opened, table_suffix

log = logging.getLogger(__name__)

EDGE_LISTS = (".txt", ".edges", ".edgelist", ".el", ".dat", ".wel", ".ncol")
SLOW_BYTES = 200_000_000
"""Size from which NetworkX takes minutes."""
MAX_UNPACKED_BYTES = 1 << 33
XML_DECLARATIONS = re.compile(rb"<!(DOCTYPE|ENTITY)", re.IGNORECASE)
COMMENT_MARKS = "#%"

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
    size = path.stat().st_size
    if size > SLOW_BYTES:
        log.warning("%s has %.1f GB: tables of nodes and edges are read much faster", path, size / 1e9)
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
        nodes, links = elements["nodes"], elements.get("links", elements.get("edges"))
        nodes, links = ([each.get("data", each) for each in group] for group in (nodes, links))
        key = next((name for name in ("id", "name", "key") if nodes and all(name in node for node in nodes)), None)
        ids = list(range(len(nodes))) if key is None else [node[key] for node in nodes]
        if len(set(ids)) < len(ids):
            raise ValueError(f"several nodes of one {key}")
        position = {node: place for place, node in enumerate(ids)}
        ends = [[_end(link[end]) for end in ("source", "target")] for link in links]
        known = [end for pair in ends for end in pair]
        if not all(end in position for end in known):
            if not all(isinstance(end, int) and 0 <= end < len(ids) for end in known):
                stray = next(end for end in known if end not in position)
                raise ValueError(f"a link to {stray!r}, which is not a node")
            position = {place: place for place in range(len(ids))}
        places = np.array([[position[end] for end in pair] for pair in ends], dtype=np.int64).reshape(-1, 2)
        weights = [link.get("weight", link.get("value")) for link in links]
        names = list(dict.fromkeys(str(name) for node in nodes for name in node if name != key))
        columns = {name: [node.get(name) for node in nodes] for name in names}
    weighted = any(weight is not None for weight in weights)
    values = np.array([1.0 if weight is None else weight for weight in weights], dtype=np.float64) if weighted else None
    label = next((name for name in names if name.lower() == "label"), None)
    return graph_from_columns(ids, columns, places, values, label)


def read_edge_list(path: Path) -> Graph:
    """Read an edge list or an adjacency list: two ends and maybe a weight, or a node and its neighbours, per line."""
    head = detect_encoding(path)[1].decode("utf-8", "replace")
    lines = [line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in COMMENT_MARKS]
    if head and head[-1] not in "\r\n" and len(lines) > 1:
        lines.pop()  # may be cut
    if not lines:
        raise FileError(f"{path} has no edges.", path=path)
    tokens = [_tokens(line) for line in lines]
    widths = {len(each) for each in tokens}
    if path.suffix == ".adjlist" or max(widths) > 4 or (len(widths) > 1 and not {2, 3} >= widths):
        return _edges_only(_adjacency_pairs(path), str(path))
    if min(widths) < 2:
        raise FileError(f"{path} has a line with one word: {lines[0][:40]!r}.", hint="An edge has two ends.", path=path)
    marks = {mark for line in lines for mark in "\t,; " if mark in line.strip()}
    is_regular = len(marks) == 1 and len(widths) == 1 and not any(line != line.strip() for line in lines)
    comments = {line.lstrip()[0] for line in head.splitlines() if line.strip() and line.lstrip()[0] in COMMENT_MARKS}
    if is_regular and len(comments) <= 1 and "{" not in head:
        mark, width = marks.pop(), widths.pop()
        if not any(mark * 2 in line for line in lines):
            return _regular_edge_list(path, mark, width, comments)
    return _edges_only(_edge_pairs(path), str(path))


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


def read_torch(path: Path) -> Graph:
    """Read a PyG `Data`, or a dictionary of tensors, through PyTorch's loader that runs no code of the file."""
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("Reading .pt files", "pyg", "torch") from error
    try:
        with torch.serialization.safe_globals(_pyg_classes()):
            content = torch.load(path, weights_only=True, map_location="cpu")
    except Exception as error:  # a damaged file can raise anything
        raise FileError(
            f"{path} holds objects that PyTorch does not load safely: {quote_error(error)}.",
            hint="Save a torch_geometric.data.Data, or a dictionary of edge_index, x and y, with torch.save.",
            path=path,
        ) from error
    while isinstance(content, list | tuple) and content:
        content = content[0]
    if isinstance(content, dict):
        found = {name: content.get(name) for name in ("x", "edge_index", "y", "edge_weight", "edge_attr")}
        return _graph_of_tensors(found, path)
    if is_a(content, "torch_geometric", "Data"):
        return Graph.from_pyg(content)
    raise FileError(f"{path} holds a {type(content).__name__}, not a graph.", hint="Save a PyG Data.", path=path)


def read_zip(path: Path) -> Graph:
    """Read the one graph of a zip file: its tables and graph.toml, without their folders."""
    from featprop.sources.reading import read_graph

    with damaged(path), tempfile.TemporaryDirectory(prefix="featprop-") as scratch, zipfile.ZipFile(path) as archive:
        members = [each for each in archive.infolist() if not each.is_dir() and "__MACOSX" not in each.filename]
        if sum(each.file_size for each in members) > MAX_UNPACKED_BYTES:
            raise ValueError(f"it unpacks to more than {MAX_UNPACKED_BYTES / 1e9:.0f} GB")
        names = [Path(each.filename).name for each in members]
        if len(set(names)) < len(names) or not names:
            raise ValueError("it holds several files of one name, or none")
        for member, name in zip(members, names, strict=True):
            with archive.open(member) as packed, (Path(scratch) / name).open("wb") as out:
                shutil.copyfileobj(packed, out)
        return read_graph(Path(scratch) / names[0] if len(names) == 1 else Path(scratch))


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
    ".zip": read_zip,
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
    """Return whether a JSON file is an object with nodes rather than a table."""
    head = detect_encoding(path)[1].decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    return head.startswith("{") and re.search(r'"(nodes|elements)"\s*:\s*[\[{]', _object_head(path, head)) is not None


def _object_head(path: Path, head: str) -> str:
    """Return enough of a JSON file to find its keys: NetworkX writes nodes first, others may write links first."""
    if re.search(r'"(nodes|elements)"', head):
        return head
    with opened(path) as file:
        return str(file.read().decode("utf-8", "replace"))


def _is_table(path: Path) -> bool:
    """Return whether a text file has a header that names the ends of edges or is one of Neo4j."""
    head = detect_encoding(path)[1].decode("utf-8", "replace")
    first = next((line for line in head.splitlines() if line.strip() and line.lstrip()[0] not in COMMENT_MARKS), "")
    names = {name.strip().strip('"').casefold() for name in re.split(r"[\t,;|]", first)}
    return any(set(ends) <= names for ends in END_NAMES) or any(
        map(NEO4J_HEADER.fullmatch, re.split(r"[\t,;|]", first))
    )


def _tokens(line: str) -> list[str]:
    return [token for token in re.split(r"[\s,;]+", line.partition("{")[0].strip()) if token]


def _text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file that are neither empty nor comments."""
    encoding, _ = detect_encoding(path)
    with damaged(path), opened(path) as file:
        for line in io.TextIOWrapper(file, encoding="utf-8-sig" if encoding == "utf-8" else encoding):
            text = line.strip()
            if text and text[0] not in COMMENT_MARKS:
                yield text


def _edge_pairs(path: Path) -> pa.Table:
    """Return the edges of lines with irregular spacing or with attributes in braces."""
    columns: dict[str, list[str | None]] = {"source": [], "target": [], "weight": []}
    for line in _text_lines(path):
        tokens = _tokens(line)
        if len(tokens) < 2:
            raise FileError(f"{path} has a line with one word: {line[:40]!r}.", hint="An edge has two ends.", path=path)
        braces = re.search(r"""['"]weight['"]\s*:\s*([-+.\deE]+)""", line)
        columns["source"].append(tokens[0])
        columns["target"].append(tokens[1])
        columns["weight"].append(braces[1] if braces else tokens[2] if len(tokens) > 2 else None)
    if all(weight is None for weight in columns["weight"]):
        del columns["weight"]
    return pa.table({name: pa.array(values, pa.string()) for name, values in columns.items()})


def _adjacency_pairs(path: Path) -> pa.Table:
    source: list[str] = []
    target: list[str] = []
    for line in _text_lines(path):
        node, *neighbours = _tokens(line)
        source += [node] * max(len(neighbours), 1)
        target += neighbours or [node]
    return pa.table({"source": pa.array(source, pa.string()), "target": pa.array(target, pa.string())})


def _regular_edge_list(path: Path, mark: str, width: int, comments: set[str]) -> Graph:
    """Read an edge list that DuckDB can read: one mark between two ends and maybe a weight and a time."""
    names = ["source", "target", "weight", "time"][:width]
    columns = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    comment = f", comment = {quoted(next(iter(comments)))}" if comments else ""
    relation = (
        f"read_csv({quoted(str(path))}, auto_detect = false, columns = {{{columns}}}, header = false, "
        f"delim = {quoted(mark)}{comment})"
    )
    description = GraphDescription(edges=str(path))
    with Tables() as tables:
        return build_graph(tables, description, None, tables.described(str(path), relation, typed=False))


def _edges_only(edges: pa.Table, name: str) -> Graph:
    with Tables() as tables:
        return build_graph(tables, GraphDescription(edges=name), None, tables.arrow(edges, name, typed=False))


def _end(value: Any) -> Any:
    """Return the id of an end: D3 replaces it by the node itself."""
    return value.get("id", value.get("index")) if isinstance(value, dict) else value


def _pyg_classes() -> list[Any]:
    try:
        from torch_geometric.data import Data
        from torch_geometric.data.data import DataEdgeAttr, DataTensorAttr
        from torch_geometric.data.storage import EdgeStorage, GlobalStorage, NodeStorage
    except ImportError:
        return []
    from torch.serialization import get_safe_globals

    classes = {Data, DataEdgeAttr, DataTensorAttr, GlobalStorage, NodeStorage, EdgeStorage}
    return list(classes - set(get_safe_globals()))  # what PyG allows itself stays allowed afterwards


def _graph_of_tensors(tensors: dict[str, Any], path: Path) -> Graph:
    try:
        from torch_geometric.data import Data
    except ImportError as error:
        raise MissingExtraError("Reading .pt files", "pyg", "torch_geometric") from error
    if tensors["edge_index"] is None:
        raise FileError(f"{path} has no edge_index.", hint="Save edge_index, x and y.", path=path)
    with damaged(path):
        return Graph.from_pyg(Data(**{name: each for name, each in tensors.items() if each is not None}))
