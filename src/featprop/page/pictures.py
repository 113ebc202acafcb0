"""Pictures of nodes: files of the declared folder, and no others."""

from __future__ import annotations

import mimetypes
from pathlib import Path

from starlette.responses import FileResponse

from featprop.errors import ParameterError
from featprop.page.replies import Refusal

__all__ = ["picture"]

KINDS = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/bmp"})
"""Formats that are only pictures: an SVG could bring a script."""


def picture(folder: Path | None, path: str) -> FileResponse:
    """Return a picture of the folder; whatever lies elsewhere, also by a link, is not there."""
    kind, _ = mimetypes.guess_type(path)
    if folder is not None and kind in KINDS and "\0" not in path:
        root = folder.resolve()
        found = (root / path).resolve()
        if found.is_relative_to(root) and found.is_file():
            return FileResponse(found, media_type=kind, headers={"Cache-Control": "private, max-age=3600"})
    cure = "name it by its path in the folder of --images"
    raise Refusal(404, ParameterError("A picture", "must be a file of the image folder", repr(path[:100]), cure))
