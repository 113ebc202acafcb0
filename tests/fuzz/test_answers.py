"""What counts as typed by a person in the cases that write over a file."""

import random
import shutil
from pathlib import Path

import pytest

from fuzz.targets import answers
from fuzz.targets.answers import typed_into


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-32", "cp1252"])
def test_a_sheet_is_typed_in_any_encoding(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is looked for in the cells, since the letters of UTF-16 are not those of ASCII."""
    seeds = tmp_path / "seeds"
    (seeds / "csv").mkdir(parents=True)
    for name in ("ridge.safetensors", "picks.csv", "audit.csv", "predictions.csv", "report.html"):
        (seeds / name).write_text("id,label\nn7,fraud\nn8,typed\n")
    monkeypatch.setattr(answers, "mutated_rows", lambda _, rows: rows)
    monkeypatch.setattr(answers, "mutated_bytes", lambda _, content: content)
    monkeypatch.setattr(answers, "written_csv", lambda _, rows: "\n".join(map(",".join, rows)).encode(encoding))
    for number in range(20):
        case = typed_into(random.Random(number), seeds, tmp_path / "case")
        assert case.changes == (("out.html",) if case.words[0] == "report" else ())
        shutil.rmtree(tmp_path / "case")
