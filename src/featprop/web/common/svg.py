"""Turn Matplotlib figures and pixel arrays into markup for a page."""

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

from featprop.web.common.palette import use_css_variables

NO_METADATA = {"Creator": None, "Date": None, "Format": None, "Type": None}


def figure_to_svg(figure: Figure, name: str) -> str:
    """Return a figure as the text of an SVG file. The text is deterministic."""
    text = StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "constrained_layout not applied")
        figure.savefig(text, format="svg", metadata=NO_METADATA)
    return "\n".join(line.rstrip() for line in text.getvalue().splitlines()) + "\n"


def embed_svg(drawing: str, description: str) -> Markup:
    """Return the text of an SVG file as an element of a page, with a description for screen readers."""
    view = re.search(r'viewBox="[^"]*"', drawing)
    body = drawing[drawing.index("</defs>") + len("</defs>") :]
    body = re.sub(r'<g id="[^"]*"', "<g", body)
    opening = f'<svg {view[0] if view else ""} role="img" aria-label="{escape(description)}">'
    return Markup(use_css_variables(opening + re.sub(r"\s*\n\s*", " ", body).strip()))


def png_uri(pixels: NDArray[np.float32]) -> str:
    """Return a grey image (0 is white, 1 is black) as a PNG data URI."""
    png = BytesIO()
    imsave(png, pixels, cmap="gray_r", vmin=0.0, vmax=1.0, format="png")
    return f"data:image/png;base64,{base64.b64encode(png.getvalue()).decode('ascii')}"
