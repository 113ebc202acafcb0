"""The judgement of a case: what is wrong is found, whoever did it."""

from pathlib import Path

import pytest
import typer

from fuzz import case as fuzzing
from fuzz.case import Case, predictions, run_case

RIGHT = "id,prediction,confidence,label,probability_ok,probability_fraud\na,ok,0.75,,0.75,0.25\n"


def do(monkeypatch: pytest.MonkeyPatch, folder: Path, command, **case) -> bool:
    """Run a case with another command in place of featprop's."""
    app = typer.Typer()
    app.command()(command)
    monkeypatch.setattr(fuzzing, "app", app)
    (folder / "seeds").mkdir()
    (folder / "case").mkdir()
    return run_case(Case((), {"input.csv": b"id"}, **case), folder / "seeds", folder / "case")


def refuse() -> None:
    typer.echo("Error: No.", err=True)
    raise typer.Exit(2)


def write(name: str) -> None:
    Path(name).write_text("new")


def test_an_answer_and_a_refusal_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "1").mkdir()
    (tmp_path / "2").mkdir()
    assert do(monkeypatch, tmp_path / "1", lambda: write("out"), outputs=("out",))
    assert not do(monkeypatch, tmp_path / "2", refuse, outputs=("out",))


def refuse_and_write() -> None:
    write("out")
    refuse()


def refuse_without_a_message() -> None:
    raise typer.Exit(2)


def refuse_twice() -> None:
    typer.echo("Error: No.", err=True)
    refuse()


def fail() -> None:
    raise KeyError("column")


@pytest.mark.parametrize(
    "command",
    [
        fail,
        refuse_and_write,
        refuse_twice,
        refuse_without_a_message,
        lambda: None,
        lambda: write("input.csv"),
        lambda: write("other"),
        lambda: Path("input.csv").unlink(),
    ],
)
def test_what_is_wrong_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, command) -> None:
    with pytest.raises((AssertionError, KeyError)):
        do(monkeypatch, tmp_path, command, outputs=("out",))


@pytest.mark.parametrize(
    ("old", "new"),
    [("0.25\n", "0.35\n"), ("ok,0.75", "fraud,0.75"), ("ok,0.75", "ok,0.5"), ("probability_", "p_"), (",0.25", ",nan")],
)
def test_wrong_predictions_are_found(tmp_path: Path, old: str, new: str) -> None:
    (tmp_path / "out.csv").write_text(RIGHT)
    predictions(tmp_path)
    (tmp_path / "out.csv").write_text(RIGHT.replace(old, new))
    with pytest.raises(AssertionError):
        predictions(tmp_path)
