"""The server is killed under load: every acknowledged answer is in the log, once; `make bench-labelling` does more."""

import importlib.util
from pathlib import Path

import pytest

PATH = Path(__file__).parents[2] / "benchmarks" / "labelling.py"


@pytest.mark.skipif(not PATH.exists(), reason="the benchmarks are not here")
def test_nothing_is_lost_or_doubled_when_the_server_is_killed(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("labelling_benchmark", PATH)
    assert spec is not None
    assert spec.loader is not None
    benchmark = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(benchmark)
    acknowledged, lost, doubled, strange = benchmark.kill_campaign(benchmark.made(tmp_path, 400), kills=3)
    assert acknowledged > 0
    assert (lost, doubled, strange) == (0, 0, 0)
