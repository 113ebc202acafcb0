"""A command line that does not parse: one sentence in the form of the other errors, and exit code 2."""

import os
import subprocess
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Literal

import pytest
import typer
from typer.testing import CliRunner

from featprop.cli.app import Commands, app
from featprop.cli.usage import usage_error

Run = Callable[..., Any]

SEE = "see featprop select --help"
COMMANDS = ", ".join(
    sorted(
        {
            *(command.name or command.callback.__name__ for command in app.registered_commands if command.callback),
            *(group.name or "" for group in app.registered_groups),
        }
    )
)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("select", f"GRAPH must be given to featprop select; found none: {SEE}."),
        ("select g", f"--budget must be given to featprop select; found none: {SEE}."),
        ("select g --budget x", f"--budget must be a whole number; found 'x': {SEE}."),
        ("select g --budget 1.5", f"--budget must be a whole number; found '1.5': {SEE}."),
        ("select g -b 2 --seed -1", f"--seed must be at least 0; found '-1': {SEE}."),
        ("select g -b", f"-b must be followed by a value; found none: {SEE}."),
        ("select g -b 2 --force=1", "--force must stand alone; found a value after it: leave out the value."),
        (
            "select g --budgt 3",
            "--budgt must be an option of featprop select; found no such option: did you mean --budget?",
        ),
        ("select g -b 2 --quux", f"--quux must be an option of featprop select; found no such option: {SEE}."),
        ("select g -b 2 -x", f"-x must be an option of featprop select; found no such option: {SEE}."),
        (
            "select g -b 2 extra more",
            "featprop select must get no further argument; found 'extra more': "
            f"quote patterns and names with spaces, and {SEE}.",
        ),
        (
            "train g --labels first.csv second.csv",
            "featprop train must get no further argument; found 'second.csv': give --labels once for each value, "
            "quote patterns and names with spaces, and see featprop train --help.",
        ),
        ("selct", f"Command of featprop must be one of {COMMANDS}; found 'selct': did you mean 'select' or 'inspect'?"),
        ("xyz", f"Command of featprop must be one of {COMMANDS}; found 'xyz': choose one of them."),
        (
            "datasets ftch",
            "Command of featprop datasets must be one of fetch, make, stats; found 'ftch': did you mean 'fetch'?",
        ),
        (
            "datasets fetch",
            "NAME... must be given to featprop datasets fetch; found none: see featprop datasets fetch --help.",
        ),
        ("--versoin", "--versoin must be an option of featprop; found no such option: did you mean --version?"),
        ("--nope", "--nope must be an option of featprop; found no such option: see featprop --help."),
        ("--version=3", "--version must stand alone; found a value after it: leave out the value."),
    ],
)
def test_one_sentence(run: Run, words: str, message: str) -> None:
    result = run(*words.split())
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == f"Error: {message}\n"


def test_in_a_process_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "featprop", "select", "g", "--budget", "x"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"Error: --budget must be a whole number; found 'x': {SEE}.\n"


def test_choices_are_named() -> None:
    other = typer.Typer(cls=Commands)

    @other.command()
    def vote(rule: Literal["majority", "latest"] = "latest") -> None:
        typer.echo(rule)

    other.command()(lambda: None)
    result = CliRunner().invoke(other, ["vote", "--rule", "last"])
    assert result.exit_code == 2
    assert result.stderr == ("Error: --rule must be one of latest, majority; found 'last': did you mean 'latest'?\n")


def test_an_error_of_another_kind_is_still_a_sentence() -> None:
    top = SimpleNamespace(parent=None, invoked_subcommand=None)
    error = typer.BadParameter("something\nodd.")
    assert str(usage_error(error, top)) == (
        "featprop must be called as its help says; found this: Invalid value: something odd: see featprop --help."
    )
    error.param = SimpleNamespace(param_type_name="option", opts=["-r", "--rule"], get_error_hint=lambda *_: "'--rule'")  # type: ignore[assignment]
    assert str(usage_error(error, top)) == (
        "--rule must be a value that fits; found this: Invalid value for '--rule': something odd: see featprop --help."
    )


def test_without_words_the_help_is_printed(run: Run) -> None:
    result = run()
    assert "Usage" in result.output
    assert "Error" not in result.output
    assert "Usage" in run("experiments").output


def test_the_help_stays_readable(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 50
    assert "--show-completion" in result.stdout
    assert "Usage: " in run("select", "--help").stdout


def test_a_script_for_the_shell() -> None:
    environment = os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    command = [sys.executable, "-m", "featprop", "--show-completion", "bash"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F _featprop_completion featprop" in done.stdout
    assert "_FEATPROP_COMPLETE=complete_bash" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs bash")
def test_the_shell_is_found_and_its_words_completed() -> None:
    shell = f"{sys.executable} -m featprop --show-completion; exit $?"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "complete -o default -F _featprop_completion featprop" in done.stdout
    environment = os.environ | {"_FEATPROP_COMPLETE": "complete_bash", "COMP_WORDS": "featprop sel", "COMP_CWORD": "1"}
    command = [sys.executable, "-m", "featprop"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.split() == ["select"]
