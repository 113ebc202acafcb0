"""Run EXAMPLES damaged inputs of each target: a few in ``make test``, many in ``make fuzz``.

What fails, Hypothesis reduces to a small example; its inputs are kept in ``fuzz/findings/TARGET``.
"""

import contextlib
import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from fuzz.case import limited, run_case
from fuzz.requests import Sent, request_lists, send_all
from fuzz.seeds import make_seeds
from fuzz.targets import TARGETS

pytestmark = pytest.mark.no_cover
FINDINGS = Path(__file__).parent / "findings"
few_or_many = settings(
    max_examples=int(os.environ.get("EXAMPLES", "5")),
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="session")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make valid inputs."""
    return make_seeds(tmp_path_factory.mktemp("fuzz") / "seeds")


@pytest.mark.parametrize("target", TARGETS)
@few_or_many
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


@few_or_many
@given(sent=request_lists)
def test_requests_are_answered_and_saved(sent: list[Sent]) -> None:
    with tempfile.TemporaryDirectory(prefix="featprop-fuzz-") as folder, contextlib.chdir(folder), limited():
        send_all(sent)
