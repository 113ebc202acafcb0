from dataclasses import dataclass
from pathlib import Path

import pytest

from featprop.demo import run


@dataclass(frozen=True)
class Demonstration:
    folder: Path
    summary: str

    @property
    def page(self) -> str:
        return (self.folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def demonstration(tmp_path_factory: pytest.TempPathFactory) -> Demonstration:
    """A real run, with one seed and two budgets to be quick."""
    folder = tmp_path_factory.mktemp("demo") / "new"
    return Demonstration(folder, run(folder, seeds=1, budgets=(10, 20)))
