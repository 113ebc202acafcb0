"""What is fuzzed: each target takes the folder of valid inputs and returns a strategy of cases."""

from fuzz.targets import command_line, graphs, labels, models, operations, requests

TARGETS = {
    **graphs.TARGETS,
    **labels.TARGETS,
    **models.TARGETS,
    "command line": command_line.command_lines,
    "operations": operations.operation_lists,
    "http": requests.request_lists,
}
