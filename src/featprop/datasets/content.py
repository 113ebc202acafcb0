"""The older public form of Cora: ``cora.content`` (paper, words, class) and ``cora.cites`` (cited, citing)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from featprop.adjacency import RawGraph
from featprop.errors import FileError, quote_error

__all__ = ["parts_of_content"]


def parts_of_content(files: Mapping[str, Path]) -> RawGraph:
    """Read ``<name>.content`` and ``<name>.cites``, tables separated by tabs. The papers' numbers become the ids."""
    content = next(path for name, path in files.items() if name.endswith(".content"))
    cites = next(path for name, path in files.items() if name.endswith(".cites"))
    rows = [line.split() for line in content.read_text(encoding="utf-8").splitlines() if line.strip()]
    widths = {len(row) for row in rows}
    if len(widths) != 1 or min(widths) < 3:
        found = f"rows of {', '.join(str(width) for width in sorted(widths)) or 'no'} columns"
        raise FileError(f"{content}", "must have rows of one length: id, words, class", found, "get the file again")
    try:
        ids = np.array([row[0] for row in rows], dtype=np.int64)
        words = np.array([row[1:-1] for row in rows], dtype=np.float32)
        ends = np.array(cites.read_text(encoding="ascii").split(), dtype=np.int64).reshape(-1, 2)
    except (ValueError, OverflowError) as error:
        what = f"{content} and {cites.name}"
        raise FileError(what, "must hold numbers", f"this: {quote_error(error)}", "get the files again") from error
    order = np.argsort(ids)
    places = np.searchsorted(ids, ends, sorter=order)
    positions = order[np.minimum(places, len(ids) - 1)]
    if not np.array_equal(ids[positions], ends):
        unknown = ends[ids[positions] != ends][0]
        found = f"paper {unknown}, which {content.name} has not"
        raise FileError(f"{cites}", "must cite papers of the data set", found, "get both files again")
    return RawGraph(
        source=positions[:, 1],
        target=positions[:, 0],
        features=sp.csr_array(words),
        ids=ids,
        labels=[row[-1] for row in rows],
    )
