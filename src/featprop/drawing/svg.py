"""From a Matplotlib figure or an array of pixels to markup that stands inside a page."""

from __future__ import annotations

import base64
import re
from html import escape
from io import BytesIO, StringIO

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray

from featprop.drawing.palette import themed

__all__ = ["drawn", "embedded", "inline_svg", "png_uri"]

NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}


def inline_svg(figure: Figure, name: str, description: str) -> str:
    """Return the figure as an ``<svg>`` element; the same figure gives the same text.

    Parameters
    ----------
    figure
        The figure, drawn in the light colours of the palette.
    name
        Distinct within the page: the ids inside the drawing derive from it.
    description
        What the figure shows, for readers who do not see it.
    """
    return embedded(drawn(figure, name, transparent=True), description)


def drawn(figure: Figure, name: str, transparent: bool = False) -> str:
    """Return the figure as the text of an SVG file, on white unless it is transparent."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(text, format="svg", transparent=transparent, metadata=NO_METADATA)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def embedded(drawing: str, description: str) -> str:
    """Return the text of an SVG file as an element of a page, in the colours of the page."""
    view = re.search(r'viewBox="[^"]*"', drawing)
    body = drawing[drawing.index("</defs>") + len("</defs>") :]
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    opening = f'<svg {view[0] if view else ""} role="img" aria-label="{escape(description)}">'
    return themed(opening + re.sub(r"\s*\n\s*", " ", body).strip())


def png_uri(pixels: NDArray[np.float32]) -> str:
    """Return a grey image, 0 for white and 1 for black, as a PNG in a data URI."""
    png = BytesIO()
    imsave(png, pixels, cmap="gray_r", vmin=0.0, vmax=1.0, format="png")
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
