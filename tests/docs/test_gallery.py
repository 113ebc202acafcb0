"""The examples print what their pages show."""

import re
from pathlib import Path

import pytest

from tests.docs.reader import Reader, blocks, differs
from tests.helpers import load_script

pytestmark = pytest.mark.no_cover
ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "gallery").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_example_prints_what_its_page_shows(page: Path, reader: Reader) -> None:
    reader.start_section(0)
    (block,) = blocks(page)
    reader.run_block(block)
    assert block.text == f"python examples/{page.stem}.py\n"
    included = re.findall(r"```\{literalinclude\} (\S+)", page.read_text(encoding="utf-8"))
    assert included == [f"../../examples/{page.stem}.py", f"../../examples/printed/{page.stem}.txt"]
    shown = (page.parent / included[1]).read_text(encoding="utf-8")
    assert differs(shown, reader.printed) is None, reader.printed
    assert len(shown.splitlines()) == len(reader.printed.splitlines())


def test_every_example_has_a_page_and_is_listed() -> None:
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| !.+\]\(gallery/(\w+)\.md\)", page, re.M)
    assert sorted(listed) == [page.stem for page in PAGES]
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert scripts - set(listed) == {"accounts"}


def test_figures_match_their_script() -> None:
    script = load_script(ROOT / "docs" / "figures" / "gallery.py")
    for name, draw in script.DRAWINGS.items():
        kept = (ROOT / "docs" / "figures" / f"{name}.svg").read_text(encoding="utf-8")
        if name != "gallery-social":  # whose layout may differ in the last bit on another processor
            assert draw() == kept, "python docs/figures/gallery.py draws it"
        assert f"figures/{name}.svg" in (PAGES[0].parent / f"{name.removeprefix('gallery-')}.md").read_text()


def test_accounts_script_never_overwrites_other_tables(reader: Reader) -> None:
    reader.start_section(0)
    nodes, edges = Path("my-graph/nodes.csv"), Path("my-graph/edges.csv")
    ours = nodes.read_bytes(), edges.read_bytes()
    nodes.unlink()
    edges.unlink()
    for _ in range(2):
        printed = reader.run_line("python examples/accounts.py", "")
        assert printed == "Wrote 1,000 accounts and 3,190 payments to my-graph.\n"
        assert (nodes.read_bytes(), edges.read_bytes()) == ours
    nodes.write_text("id\nmine\n", encoding="utf-8")
    edges.unlink()
    with pytest.raises(SystemExit):
        reader.run_line("python examples/accounts.py", "")
    assert nodes.read_text(encoding="utf-8") == "id\nmine\n"
    assert not edges.exists()
