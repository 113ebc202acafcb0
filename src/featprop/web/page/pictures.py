"""Pictures of nodes, as the page serves them."""

from __future__ import annotations

from pathlib import Path

from starlette.responses import FileResponse

from featprop.errors import ParameterError
from featprop.web.page.image_files import KINDS, image_file
from featprop.web.page.replies import Refusal

__all__ = ["picture"]


def picture(folder: Path | None, path: str) -> FileResponse:
    """Return a picture of the folder; whatever lies elsewhere, also by a link, is not there."""
    found = None if folder is None else image_file(folder, path)
    if found is None:
        cure = "name it by its path in the folder of --images"
        raise Refusal(404, ParameterError("A picture", "must be a file of the image folder", repr(path[:100]), cure))
    kept = {"Cache-Control": "private, max-age=3600"}
    return FileResponse(found, media_type=KINDS[found.suffix.lower()], headers=kept)
