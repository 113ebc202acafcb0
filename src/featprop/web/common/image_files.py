"""Find images of nodes inside the declared image folder."""

from __future__ import annotations

from pathlib import Path

MEDIA_TYPES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".bmp": "image/bmp",
    ".avif": "image/avif",
}
"""Media type of each file extension. SVG is not allowed, because an SVG file can run scripts."""


def find_image(images: Path, name: str) -> Path | None:
    """Return the path of an image, or None if it is missing or outside the folder (by ``..`` or a link)."""
    try:
        root = images.resolve(strict=True)
        for start in (root, root.parent):
            found = (start / name).resolve()
            if found.is_relative_to(root) and found.suffix.lower() in MEDIA_TYPES and found.is_file():
                return found
    except (OSError, ValueError, RuntimeError):
        return None
    return None
