"""The examples print what their pages show."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "gallery").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_example_prints_what_its_page_shows(
    page: Path,
    reader: Any,
    blocks_of: Callable[[Path], list[Any]],
    differs_in: Callable[[str, str], str | None],
) -> None:
    reader.start_section(0)
    (block,) = blocks_of(page)
    reader.run_block(block)
    assert block.text == f"python examples/{page.stem}.py\n"
    included = re.findall(r"```\{literalinclude\} (\S+)", page.read_text(encoding="utf-8"))
    assert included == [f"../../examples/{page.stem}.py", f"../../examples/printed/{page.stem}.txt"]
    shown = (page.parent / included[1]).read_text(encoding="utf-8")
    assert differs_in(shown, reader.printed) is None, reader.printed
    assert len(shown.splitlines()) == len(reader.printed.splitlines())


def test_every_example_has_a_page_and_is_listed() -> None:
    listed = re.findall(
        r"^\| \[.+?\]\(gallery/(\w+)\.md\)", (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8"), re.M
    )
    assert sorted(listed) == [page.stem for page in PAGES]
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts - set(listed) == {"accounts"}


def test_accounts_script_never_overwrites_other_tables(reader: Any) -> None:
    reader.start_section(0)
    ours = {path: path.read_bytes() for path in sorted(Path("my-graph").iterdir())}
    for path in ours:
        path.unlink()
    for _ in range(2):
        printed = reader.run_line("python examples/accounts.py", "")
        assert printed == "Wrote 1,000 accounts and 3,190 payments to my-graph.\n"
        assert {path: path.read_bytes() for path in sorted(Path("my-graph").iterdir())} == ours
    for name, left in ("nodes.csv", "edges.csv"), ("edges.parquet", "nodes.csv"):
        mine = Path("my-graph", name)
        mine.write_text("id\nmine\n", encoding="utf-8")
        Path("my-graph", left).unlink()
        with pytest.raises(SystemExit) as caught:
            reader.run_line("python examples/accounts.py", "")
        assert f"my-graph/{name}" in str(caught.value)
        assert mine.read_text(encoding="utf-8") == "id\nmine\n"
        assert not Path("my-graph", left).exists()
