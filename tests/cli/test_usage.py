"""A command line that does not parse: exit code 2; parameters in messages spelled as options."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Annotated, Any

import pytest
import typer
from typer.testing import CliRunner

from featprop.cli.application import Commands
from featprop.errors import ParameterError

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        ("select", "GRAPH"),
        ("select g --budget x", "--budget integer"),
        ("select g --budgt 3", "--budgt --budget"),
        ("convert g --out there", "--out convert GRAPH FOLDER"),
        ("datasets ftch", "ftch fetch"),
        ("--versoin", "--versoin --version"),
    ],
)
def test_usage_errors_name_the_mistake(run: Run, arguments: str, facts: str) -> None:
    result = run(*arguments.split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert [fact for fact in facts.split() if fact not in result.stderr] == []


@pytest.fixture
def vote() -> Callable[..., Any]:
    """Run a command line with a command ``vote`` that raises the message it is given."""
    app, group = typer.Typer(cls=Commands), typer.Typer(cls=Commands)

    @group.command()
    @app.command()
    def vote(
        message: Annotated[str, typer.Argument(metavar="MESSAGE")],
        max_memory: str = "",
        id_: Annotated[str, typer.Option("--id")] = "",
        settings: Annotated[list[str] | None, typer.Option("--set", "-s")] = None,
        seed: int = 0,
        force: Annotated[bool, typer.Option("--force")] = False,
    ) -> None:
        raise ParameterError(message)

    group.command()(lambda: None)
    app.add_typer(group, name="group")
    return lambda *words: CliRunner().invoke(app, words)


@pytest.mark.parametrize(
    ("python", "options"),
    [
        ("Set `max_memory`.", "Set --max-memory."),
        ("Pass `force=True`.", "Pass --force."),
        ("Pass `id`.", "Pass --id."),
        ("`random_state` and `settings` of `message`", "--seed and --set of MESSAGE"),
        ("Run `featprop train`, not `votes` or `force=False`.", "Run `featprop train`, not `votes` or `force=False`."),
    ],
)
def test_parameters_are_spelled_as_options(vote: Callable[..., Any], python: str, options: str) -> None:
    for command in (["vote"], ["group", "vote"]):
        result = vote(*command, python)
        assert (result.exit_code, result.stderr) == (2, f"Error: {options}\n")


def test_no_arguments_prints_the_help(run: Run) -> None:
    result = run()
    assert "Usage" in result.output
    assert "Error" not in result.output
    assert "Usage" in run("experiments").output


def test_help_fits_a_screen(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 50
    assert "--show-completion" in result.stdout
    assert "Usage: " in run("select", "--help").stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
def test_completion_in_bash() -> None:
    shell = f"{sys.executable} -m featprop --show-completion; exit $?"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F _featprop_completion featprop" in done.stdout
    environment = os.environ | {"_FEATPROP_COMPLETE": "complete_bash", "COMP_WORDS": "featprop sel", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "featprop"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.split() == ["select"]
