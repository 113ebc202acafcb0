"""The registry: one name, one class."""

from typing import Any

import pytest

from featprop.options import Registry


class Base:
    name = ""


CELL = """
@registry.register("mine")
class Mine(Base):
    value = {value}
"""


def run_cell(registry: Registry[Base], value: int) -> type[Any]:
    """Define the class as a notebook cell does."""
    names: dict[str, Any] = {"registry": registry, "Base": Base, "__name__": "__main__"}
    exec(CELL.format(value=value), names)
    return names["Mine"]


@pytest.fixture
def registry() -> Registry[Base]:
    return Registry("thing", Base, "no.such.group")


def test_rerunning_a_notebook_cell_replaces_the_class(registry: Registry[Base]) -> None:
    before = run_cell(registry, 1)()
    run_cell(registry, 2)
    assert registry.names() == ["mine"]
    assert registry.make("mine").value == 2
    assert registry.name_of(before) == "mine", "an earlier instance can still be saved"


def test_another_class_cannot_take_the_name(registry: Registry[Base]) -> None:
    mine = run_cell(registry, 1)
    other = type("Mine", (Base,), {"__module__": "elsewhere"})
    with pytest.raises(ValueError, match="mine"):
        registry.register("mine")(other)
    assert registry.find("mine") is mine
