"""One name, one class; a class that is defined again takes its own place."""

from typing import Any

import pytest

from featprop.registry import Registry


class Base:
    name = ""


CELL = """
@registry.register("mine")
class Mine(Base):
    value = {value}
"""


def run_cell(registry: Registry[Base], value: int) -> type[Any]:
    """Define the class as a cell of a notebook does."""
    names: dict[str, Any] = {"registry": registry, "Base": Base, "__name__": "__main__"}
    exec(CELL.format(value=value), names)
    return names["Mine"]


@pytest.fixture
def registry() -> Registry[Base]:
    return Registry("thing", Base, "no.such.group")


def test_a_cell_that_runs_again_replaces_the_class(registry: Registry[Base]) -> None:
    before = run_cell(registry, 1)()
    run_cell(registry, 2)
    assert registry.names() == ["mine"]
    assert registry.make("mine").value == 2
    assert registry.name_of(before) == "mine", "what was made before can still be saved"


def test_another_class_does_not_take_the_name(registry: Registry[Base]) -> None:
    mine = run_cell(registry, 1)
    other = type("Mine", (Base,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match="thing 'mine' is registered already, by Mine"):
        registry.register("mine")(other)
    assert registry.find("mine") is mine
