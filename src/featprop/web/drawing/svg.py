"""From a Matplotlib figure or an array of pixels to markup that stands inside a page."""

from __future__ import annotations

import base64
import re
import warnings
from io import BytesIO, StringIO

import matplotlib
import numpy as np
from markupsafe import Markup, escape
from matplotlib.figure import Figure
from matplotlib.image import imsave
from numpy.typing import NDArray

from featprop.web.drawing.palette import themed

__all__ = ["drawn", "embedded", "png_uri"]

NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}


def drawn(figure: Figure, name: str) -> str:
    """Return the figure as the text of an SVG file; the same figure gives the same text.

    Parameters
    ----------
    figure
        The figure, drawn in the light colours of the palette.
    name
        Distinct within a page: the ids inside the drawing derive from it.
    """
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # names that are longer than the figure
        figure.savefig(text, format="svg", metadata=NO_METADATA)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def embedded(drawing: str, description: str) -> Markup:
    """Return the text of an SVG file as an element of a page in its colours, described for who does not see it."""
    view = re.search(r'viewBox="[^"]*"', drawing)
    body = drawing[drawing.index("</defs>") + len("</defs>") :]
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    opening = f'<svg {view[0] if view else ""} role="img" aria-label="{escape(description)}">'
    return Markup(themed(opening + re.sub(r"\s*\n\s*", " ", body).strip()))


def png_uri(pixels: NDArray[np.float32]) -> str:
    """Return a grey image, 0 for white and 1 for black, as a PNG in a data URI."""
    png = BytesIO()
    imsave(png, pixels, cmap="gray_r", vmin=0.0, vmax=1.0, format="png")
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
