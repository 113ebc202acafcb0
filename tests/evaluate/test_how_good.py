"""Table on audits in docs/how-good-measured.md matches the stored results."""

import json
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_audit_table_matches_the_results() -> None:
    written = (ROOT / "experiments" / "estimates" / "audit.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in written.splitlines()]
    page = (ROOT / "docs" / "how-good-measured.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "benchmarks" / "audit.py"))["table"](lines)
    assert "\n".join(made) in page


def test_interval_coverage_as_stated() -> None:
    written = (ROOT / "experiments" / "estimates" / "audit.jsonl").read_text(encoding="utf-8")
    for line in map(json.loads, written.splitlines()):
        assert line["accuracy"][0] >= 0.8, line
        if not line["of"].startswith("15"):
            assert line["macro_f1"][0] >= 0.8, line
