"""A short campaign on one file; ``make mutants`` runs a long one."""

import json
import re
import subprocess
import sys
from pathlib import Path

from mutants.changes import all_mutants, sampled

ROOT = Path(__file__).parents[2]
COUNT, MODULE = 60, "evaluate/cross_validation.py"


def run(out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mutants", "--seed", "3", "--count", str(COUNT), "--module", MODULE]
    done = subprocess.run([*command, "--out", str(out), *more], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done


def test_campaign_resumes_without_repeating(tmp_path: Path) -> None:
    expected = [mutant.key for mutant in sampled(all_mutants(), COUNT, 3) if mutant.module == MODULE]
    told = run(tmp_path).stdout
    outcomes = [json.loads(line) for line in (tmp_path / "outcomes.jsonl").read_text().splitlines()]
    assert sorted(each["key"] for each in outcomes) == sorted(expected)
    assert re.search(rf"^all +{len(expected)} ", told, flags=re.MULTILINE)
    assert all(each["by"].startswith("tests/evaluate/") for each in outcomes if each["outcome"] == "killed")
    assert any(each["outcome"] == "killed" for each in outcomes)
    again = run(tmp_path)
    assert "0 of them to try" in again.stdout
    assert again.returncode == 0, again.stdout
    (tmp_path / "outcomes.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in outcomes[1:]))
    stopped = run(tmp_path, "--seconds", "0")
    assert "1 are not tried yet: run again" in stopped.stdout
    assert stopped.returncode == 1, "not all was done"
