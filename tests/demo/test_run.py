import subprocess
import sys

import pytest

from featprop.demo import run
from featprop.errors import FileError, MissingExtraError, ParameterError


def test_the_summary_holds_the_figures_and_where_the_report_is(demonstration):
    lines = demonstration.summary.splitlines()
    budgets = [line.split() for line in lines if line.strip()[:2] in ("10", "20") and "labels" not in line]
    assert [cells[0] for cells in budgets] == ["10", "20"]
    for _, ours, theirs, points, *macro_f1 in budgets:
        assert float(points) == pytest.approx(float(ours) - float(theirs), abs=0.11)
        assert len(macro_f1) == 3
    assert f"Report: {demonstration.folder / 'report.html'}" in lines


def test_nothing_but_the_outputs_is_left(demonstration):
    written = {str(path.relative_to(demonstration.folder)) for path in demonstration.folder.rglob("*")}
    assert written == {"report.html", "graph", "graph/nodes.csv", "graph/edges.csv", "graph-labels.csv"}


def test_the_same_run_writes_the_same_files_over_the_earlier_ones(demonstration):
    files = [path for path in demonstration.folder.rglob("*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    assert run(demonstration.folder, seeds=1, budgets=(10, 20)) == demonstration.summary
    assert {path: path.read_bytes() for path in files} == before


@pytest.mark.parametrize("name", ["report.html", "graph/nodes.csv", "graph-labels.csv"])
def test_a_file_of_someone_else_is_kept(tmp_path, name):
    theirs = tmp_path / name
    theirs.parent.mkdir(exist_ok=True)
    theirs.write_text("mine\n", encoding="utf-8")
    with pytest.raises(FileError, match="must be new or from an earlier demo"):
        run(tmp_path, seeds=1)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [theirs]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "demo").write_text("mine", encoding="utf-8")
    with pytest.raises(FileError, match="must be a folder"):
        run(tmp_path / "demo", seeds=1)


def test_no_seed_is_refused(tmp_path):
    with pytest.raises(ParameterError, match="seeds must be at least 1; found 0"):
        run(tmp_path, seeds=0)


@pytest.mark.parametrize("name", ["matplotlib", "torch"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(monkeypatch, tmp_path, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtraError, match=rf"featprop demo needs the package {name}.*featprop\[demo\]"):
        run(tmp_path, seeds=1)


def test_importing_the_demo_loads_nothing_heavy():
    heavy = "{'matplotlib', 'sklearn', 'torch'}"
    code = f"import sys; from featprop.demo import run; print({heavy} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
