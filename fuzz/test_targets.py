"""Run EXAMPLES damaged inputs of each target: a few in ``make test``, many in ``make fuzz``.

What fails, Hypothesis reduces to a small example; its inputs are kept in ``fuzz/findings/TARGET``.
"""

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from fuzz import command_line, graphs, labels, requests
from fuzz.case import run_case
from fuzz.seeds import make_seeds

EXAMPLES = int(os.environ.get("EXAMPLES", "5"))
FINDINGS = Path(__file__).parent / "findings"
TARGETS = graphs.TARGETS | labels.TARGETS
TARGETS |= {"command-line": command_line.command_lines, "requests": requests.request_lists}


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make valid inputs."""
    return make_seeds(tmp_path_factory.mktemp("fuzz") / "seeds")


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answer_or_one_clear_message(target: str, seeds: Path, data: st.DataObject) -> None:
    case = data.draw(TARGETS[target](seeds))
    with tempfile.TemporaryDirectory(prefix="featprop-fuzz-") as folder:
        try:
            event("answer" if run_case(case, seeds, Path(folder)) else "refusal")
        except BaseException:
            shutil.rmtree(FINDINGS / target, ignore_errors=True)
            shutil.copytree(folder, FINDINGS / target)
            raise
