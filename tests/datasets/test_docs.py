"""docs/datasets.md agrees with the catalogue."""

import re
from pathlib import Path

import pytest

from featprop.datasets import CATALOGUE

PAGE = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=lambda entry: entry.name)
def test_every_data_set_is_in_the_table(entry):
    cells = [
        f"`{entry.name}`",
        f"{entry.nodes:,}",
        f"{entry.edges:,}",
        f"{entry.classes}",
        f"{entry.features:,}",
        "?" if entry.homophily is None else f"{entry.homophily:.2f}",
        entry.licence,
    ]
    assert f"| {' | '.join(cells)} |" in PAGE


def test_every_placed_file_is_named():
    for entry in CATALOGUE.values():
        for form in entry.forms:
            for file in form.files:
                stems = [file.name, file.name.replace(entry.name, "NAME"), re.sub(r"\.[a-z.]+$", ".*", file.name)]
                group = form.name == "heterophilous .npz" or file.name.startswith(("ind.", "node-"))
                assert group or any(stem in PAGE for stem in stems), file.name
