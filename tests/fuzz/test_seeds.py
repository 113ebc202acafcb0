"""Inputs of cases are made from the numbers of the campaign alone, on any day."""

import hashlib
from pathlib import Path

from fuzz.campaign import Number, make_case
from fuzz.case import targets
from fuzz.seeds import make_seeds

NOT_CHANGED = ("checked.json", "told.txt")
"""Files that say when others were written, or what commands printed; no target changes them."""


def contents(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name not in NOT_CHANGED)
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def made(folder: Path, number: Number) -> tuple[list[str], dict[str, str]]:
    place = folder / str(number)
    place.mkdir()
    case = make_case(number, folder / "seeds", place)
    return case.words, contents(place)


def test_a_case_is_made_from_its_number_alone(tmp_path: Path) -> None:
    folders = tmp_path / "one", tmp_path / "again, elsewhere"
    for folder in folders:
        (folder / "seeds").mkdir(parents=True)
        make_seeds(folder / "seeds")
    assert contents(folders[0] / "seeds") == contents(folders[1] / "seeds")
    for name in targets():
        numbers = [Number(3, name, number) for number in range(4)]
        one, again = ([made(folder, number) for number in numbers] for folder in folders)
        assert one == again
        assert any(each != one[0] for each in one), f"the cases of {name} differ by their numbers"
