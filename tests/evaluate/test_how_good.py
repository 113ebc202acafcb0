"""The table of docs/how-good-measured.md is made of its lines, and says what the text below it says."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_table_of_audits_is_made_of_its_lines() -> None:
    written = (ROOT / "experiments" / "estimates" / "audit.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    page = (ROOT / "docs" / "how-good-measured.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "benchmarks" / "audit.py"))["table"](lines)
    assert "\n".join(made) in page


def test_the_intervals_hold_where_the_page_says_so() -> None:
    written = (ROOT / "experiments" / "estimates" / "audit.jsonl").read_text(encoding="utf-8")
    for line in map(json.loads, written.splitlines()):
        assert line["accuracy"][0] >= 0.8, line
        if not line["of"].startswith("15"):
            assert line["macro_f1"][0] >= 0.8, line
