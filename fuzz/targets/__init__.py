"""What is fuzzed: each target takes the folder of valid inputs and returns a strategy of cases."""

from fuzz.targets import command_line, graphs, labels, operations, requests

TARGETS = {
    **graphs.TARGETS,
    **labels.TARGETS,
    "command line": command_line.command_lines,
    "operations": operations.operation_lists,
    "http": requests.request_lists,
}
