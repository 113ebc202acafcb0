"""Which files are pictures of nodes: those of the declared folder, and no others."""

from __future__ import annotations

from pathlib import Path

__all__ = ["KINDS", "image_file"]

KINDS = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""How names of pictures end, and what each is. SVG is not among them: one opened by itself may run scripts."""


def image_file(images: Path, name: str) -> Path | None:
    """Return the file of an image inside the folder, None if there is none or it lies outside, by ``..`` or a link.

    Parameters
    ----------
    images
        The folder.
    name
        The name in the table, below the folder or with its name in front.
    """
    try:
        root = images.resolve(strict=True)
        for start in (root, root.parent):
            found = (start / name).resolve()
            if found.is_relative_to(root) and found.suffix.lower() in KINDS and found.is_file():
                return found
    except (OSError, ValueError, RuntimeError):
        return None
    return None
