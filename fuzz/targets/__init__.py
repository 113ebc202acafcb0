"""What is fuzzed: each target takes the folder of valid inputs and returns a strategy of cases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from fuzz.case import Case
from fuzz.targets import command_line, graphs, labels, models, operations, requests

TARGETS: dict[str, Callable[[Path], SearchStrategy[Case]]] = {
    **graphs.TARGETS,
    **labels.TARGETS,
    **models.TARGETS,
    "command line": command_line.command_lines,
    "operations": operations.operation_lists,
    "http": requests.request_lists,
}
