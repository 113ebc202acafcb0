"""SVG figures become a part of the page, in its colours: they follow the reader from light to dark.

Figures are drawn in the light colours of `featprop.web.common.palette`, whose variables the theme defines.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from featprop.experiments.figures import embed_svg


class InlineFigures(SphinxPostTransform):
    """Replace each image that is an SVG file by its drawing."""

    default_priority = 100
    formats = ("html",)

    def run(self, **_: Any) -> None:
        """Replace the images of one page."""
        for image in list(self.document.findall(nodes.image)):
            if image["uri"].endswith(".svg"):
                drawing = Path(self.app.srcdir, image["uri"]).read_text(encoding="utf-8")
                markup = f'<div class="drawing">{embed_svg(drawing, image["alt"])}</div>'
                image.replace_self(nodes.raw("", markup, format="html"))


def setup(sphinx: Sphinx) -> dict[str, bool]:
    """Register the transform."""
    sphinx.add_post_transform(InlineFigures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
