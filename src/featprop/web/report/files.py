"""The HTML file of a report."""

from __future__ import annotations

COMMAND = "featprop report"
SUFFIXES = (".html", ".htm")
