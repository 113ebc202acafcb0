"""The table of strategies in the docs is complete."""

import re
from pathlib import Path

from featprop.options import options_of
from featprop.strategies import available_strategies, strategy_class

PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8")


def cells() -> dict[str, list[str]]:
    rows = [line.split("|")[1:-1] for line in PAGE.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows if len(row) == 4}


def test_the_table_lists_every_strategy_with_needs_and_options() -> None:
    table = cells()
    assert sorted(table) == available_strategies()
    for name, (_, needs, options) in table.items():
        kind = strategy_class(name)
        used = "model, once there are labels" if kind.uses else ""
        assert needs == ("model" if kind.needs else used), name
        assert re.findall(r"`(\w+)`", options) == list(options_of(kind)), name
