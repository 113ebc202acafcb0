"""Cards: what a person reads of a node, in a good order, and nothing that leads out."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.datasets.digits import digits
from featprop.errors import ParameterError
from featprop.graph import Graph
from featprop.sources import read_graph
from featprop.sources.native import write_native
from featprop.web.page.card import Card, Field, card_of, picture_of, title_of
from featprop.web.page.image_files import image_file

N = 100


def graph_of(columns: dict[str, Any], **options: Any) -> Graph:
    size = len(next(iter(columns.values())))
    nodes = {"id": [f"n{place}" for place in range(size)], **columns}
    edges = pa.table({"source": [f"n{place}" for place in range(size - 1)], "target": ["n1"] * (size - 1)})
    return Graph.from_tables(pa.table(nodes), edges, **options)


def fields(card: Card) -> dict[str, Field]:
    return {field.name: field for field in card.fields}


@pytest.fixture(scope="module")
def people() -> Graph:
    """A hundred people with a column of each kind, and a class that nobody may read."""
    bios = [f"number {place} likes long walks and word{place} and word{place * 7 % 31}" for place in range(N)]
    return graph_of(
        {
            "site": [f"https://example.org/{place}?a=1&b=2" for place in range(N)],
            "vector": [[float(place), -1.5, 2.0] for place in range(N)],
            "member": [place % 4 == 0 for place in range(N)],
            "country": ["DE" if place < 75 else "FR" for place in range(N)],
            "town": [f"town {place % 10}" for place in range(N)],
            "age": [place + 0.5 for place in range(N - 1)] + [None],
            "balance": [f"${1000 * (N - place):,.2f}" for place in range(N)],
            "since": [f"{1 + place % 28:02d}.{1 + place % 12:02d}.2019" for place in range(N)],
            "bio": bios,
            "email": [f"p{place}@example.org" for place in range(N)],
            "name": [f"Person {chr(65 + place % 26)}{place}" for place in range(N)],
            "bank": ["0001"] * N,
            "label": ["good", "bad"] * (N // 2),
        }
    )


def test_a_card_starts_with_the_name_and_ends_with_what_tells_least(people: Graph) -> None:
    card = card_of(people, 12)
    assert card.title == "Person M12"
    assert [field.name for field in card.fields] == [
        "id", "email", "bio", "since", "age", "balance", "town", "member", "country", "vector", "site", "bank",
    ]  # fmt: skip
    assert card.picture is None
    assert card.left_out == 0


def test_the_class_is_on_no_card(people: Graph) -> None:
    said = repr(card_of(people, 12))
    assert "label" not in said
    assert "good" not in said
    other = graph_of({"label": ["a b", "c d", "e f"], "kind": ["x", "y", "x"], "w": [1, 2, 3]}, label="kind")
    assert card_of(other, 1).title == "c d"
    assert set(fields(card_of(other, 1))) == {"id", "w"}


def test_numbers_say_where_they_lie(people: Graph) -> None:
    of = fields(card_of(people, 12))
    assert of["age"] == Field("age", "number", "12.5", "higher than 12 % of the nodes", pytest.approx(12 / 99))
    assert of["balance"] == Field(
        "balance", "number", "$88,000.00", "higher than 87 % of the nodes", pytest.approx(0.87)
    )
    assert fields(card_of(people, 0))["age"].note == "none is lower"
    assert fields(card_of(people, 98))["age"].note == "higher than 99 % of the nodes"


def test_equal_numbers_lie_at_the_same_place() -> None:
    graph = graph_of({"w": [1.0, 2.0, 2.0, 2.0, 3.0], "v": [5, 1, 4, 2, 3]})
    assert [fields(card_of(graph, node))["w"].place for node in range(5)] == pytest.approx([0, 0.2, 0.2, 0.2, 0.8])


def test_dates_are_in_words_and_read_by_their_column(people: Graph) -> None:
    found = fields(card_of(people, 3))["since"]
    assert (found.kind, found.text) == ("date", "4 April 2019")
    assert found.note == f"later than {found.place:.0%} of the nodes".replace("%", " %")


def test_categories_and_flags_say_how_common_they_are(people: Graph) -> None:
    of = fields(card_of(people, 12))
    assert of["town"] == Field("town", "category", "town 2", "10 % of the nodes")
    assert of["country"] == Field("country", "flag", "DE", "75 % of the nodes")
    assert of["member"] == Field("member", "flag", "yes", "25 % of the nodes")
    assert of["bank"] == Field("bank", "category", "0001", "the same everywhere")


def test_columns_that_are_no_features_are_read_all_the_same(people: Graph) -> None:
    assert people.feature_names is not None
    assert not any(name.startswith("email") for name in people.feature_names)
    assert fields(card_of(people, 3))["email"] == Field("email", "text", "p3@example.org")


def test_a_vector_is_summed_up(people: Graph) -> None:
    assert fields(card_of(people, 12))["vector"] == Field("vector", "vector", "3 numbers from -1.5 to 12")


def test_what_is_missing_comes_last_and_says_so(people: Graph) -> None:
    assert card_of(people, 99).fields[-1] == Field("age", "number", "", "not given")


def test_a_node_without_a_name_goes_by_its_id() -> None:
    graph = graph_of({"name": ["Ada", None, " "], "w": [1, 2, 3]})
    assert [title_of(graph, node) for node in range(3)] == ["Ada", "n1", "n2"]
    assert [field.name for field in card_of(graph, 0).fields] == ["id", "w"]
    assert [field.name for field in card_of(graph, 1).fields] == ["w", "name"]


def test_a_title_that_is_a_category_gives_way_to_a_name() -> None:
    graph = graph_of({"title": ["Dr", "Ms"] * 20, "Name": [f"P{place}" for place in range(40)], "w": range(40)})
    assert title_of(graph, 3) == "P3"
    companies = graph_of({"company_name": [f"P{place} AG" for place in range(40)], "w": [1.5, 2] * 20})
    assert title_of(companies, 3) == "P3 AG"


def test_a_native_graph_reads_the_same(people: Graph, tmp_path: Path) -> None:
    write_native(people, tmp_path / "people")
    again = read_graph(tmp_path / "people")
    assert again.preprocessor is not None
    assert again.preprocessor.profiles == people.preprocessor.profiles
    assert card_of(again, 12) == card_of(people, 12)


def test_long_text_is_cut_and_says_so() -> None:
    graph = graph_of({"text": ["some words " * 1000, "a b c", "d e f"], "w": [1, 2, 3]})
    field = fields(card_of(graph, 0))["text"]
    assert 4990 < len(field.text) <= 5000
    assert field.text.endswith("words some…")
    assert field.note == "6,000 more characters"


@pytest.mark.parametrize(
    ("value", "is_link"),
    [
        ("https://example.org/a?b=c", True), ("HTTP://example.org", True), ("javascript:alert(1)", False),
        ("https://exa mple.org", False), ('https://x.org/"onclick="alert(1)', False), ("data:text/html,<b>", False),
        ("ftp://example.org", False), ("https://", False), ("//example.org", False), ("https://[::1", False),
        ("see https://example.org", False), ("https://x.org/\x07", False), ("file:///etc/passwd", False),
    ],
)  # fmt: skip
def test_only_addresses_of_web_pages_are_links(value: str, is_link: bool) -> None:
    graph = graph_of({"site": [value, "b", "c"], "w": [1, 2, 3]})
    field = fields(card_of(graph, 0))["site"]
    assert (field.kind == "link") == is_link
    assert field.href == (value if is_link else None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of images beside a secret, with links that lead in and out."""
    images = tmp_path / "images"
    (images / "sub dir").mkdir(parents=True)
    for name in ("a.png", "sub dir/b&c.JPG", "run.svg", "secret.txt"):
        (images / name).write_bytes(b"x")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (images / "out.png").symlink_to(tmp_path / "secret.png")
    (images / "text.png").symlink_to(images / "secret.txt")
    (images / "in.png").symlink_to(images / "a.png")
    return images


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("a.png", "a.png"), ("images/a.png", "a.png"), ("sub dir/b&c.JPG", "sub dir/b&c.JPG"), ("in.png", "a.png"),
        ("./sub dir/../a.png", "a.png"), ("../secret.png", None), ("secret.png", None), ("out.png", None),
        ("images/../secret.png", None), ("text.png", None), ("secret.txt", None), ("run.svg", None), ("gone.png", None),
        ("/etc/passwd", None), ("a.png\x00.png", None), ("x" * 5000 + ".png", None), ("", None), ("sub dir", None),
    ],
)  # fmt: skip
def test_images_come_from_their_folder_only(folder: Path, name: str, file: str | None) -> None:
    assert image_file(folder, name) == (None if file is None else folder / file)


def test_images_on_a_card(folder: Path) -> None:
    names = ["sub dir/b&c.JPG", "../secret.png", "https://x.org/a.png"]
    graph = graph_of({"photo": names, "w": [1, 2, 3]})
    shown = [fields(card_of(graph, node, folder))["photo"] for node in range(3)]
    assert shown[0] == Field("photo", "image", names[0], href="/images/sub%20dir/b%26c.JPG")
    assert shown[1] == Field("photo", "text", names[1], "not in the folder of images")
    assert shown[2] == Field("photo", "link", names[2], href=names[2])
    assert card_of(graph, 0, folder).fields[0].name == "photo"
    assert fields(card_of(graph, 0))["photo"] == Field("photo", "text", names[0])
    assert image_file(folder / "gone", "a.png") is None


def test_odd_types_are_shown_too() -> None:
    struct = pa.array([{"x": 1, "y": "z"}] * 3)
    columns = {"tags": [["a", "b"], [], None], "struct": struct, "raw": [b"ab", b"", None], "w": [1, 2, 3]}
    of = fields(card_of(graph_of(columns), 0))
    assert (of["tags"].text, of["struct"].text, of["raw"].text) == ("a, b", "x: 1, y: z", "2 bytes")


def test_a_wide_table_is_cut_and_says_so() -> None:
    generator = np.random.default_rng(0)
    names = [f"x{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(120)]
    graph = graph_of({name: generator.normal(size=20) for name in names})
    card = card_of(graph, 0)
    assert len(card.fields) == 100
    assert card.left_out == 20


def test_columns_of_one_thing_are_summed_up() -> None:
    generator = np.random.default_rng(0)
    columns = {f"w_{place}": generator.normal(size=40) for place in range(20)}
    card = card_of(graph_of(columns | {"age": generator.normal(size=40)}), 3)
    assert card.fields[0].name == "age"
    assert card.fields[-1].name == "w_0 … w_19"
    assert card.fields[-1].text.startswith("20 numbers from ")
    assert len(card.fields) == 10


def test_words_of_a_bag_are_named_the_rarest_first() -> None:
    common = {f"word{chr(97 + place)}": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] * 4 for place in range(26)}
    often = {f"often{chr(97 + place)}": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] * 4 for place in range(26)}
    rare = {"seldom": [1] + [0] * 39}
    graph = graph_of(common | often | rare)
    assert graph.table is None
    (field,) = card_of(graph, 0).fields
    assert field.text.split(", ")[:3] == ["seldom", "worda", "wordb"]
    assert field.note == "27 of 53, the most telling first"
    assert card_of(graph, 5).fields == [Field("words", "text", "", "none of them")]


def test_features_without_names_or_table() -> None:
    ring = sp.diags_array([np.ones(99), np.ones(99)], offsets=[-1, 1])
    bag = sp.random_array((100, 300), density=0.02, rng=np.random.default_rng(0), dtype=np.float64)
    words = card_of(Graph.from_scipy(ring, bag), 4).fields
    there = set(bag.tocsr()[[4]].indices.tolist())
    assert {int(place) for place in words[0].text.split(", ")} == there
    numbers = np.random.default_rng(0).normal(size=(100, 30))
    numbers[4, 17] = 50
    card = card_of(Graph.from_scipy(ring, numbers), 4)
    assert card.title == "4"
    assert card.fields[0] == Field("feature 17", "number", "50", "higher than 99 % of the nodes", pytest.approx(0.99))
    assert len(card.fields) == 9
    few = card_of(Graph.from_scipy(ring, numbers[:, :3]), 4)
    assert [field.name for field in few.fields] == ["feature 0", "feature 1", "feature 2"]


def test_digits_are_pictures() -> None:
    graph = digits()
    card = card_of(graph, 0)
    assert card.fields == []
    assert card.picture is not None
    assert card.picture.startswith("<svg")
    assert 'viewBox="0 0 8 8"' in card.picture
    assert "style=" not in card.picture


def test_pictures_in_a_list_column_are_pictures() -> None:
    images = digits().features[:60]
    graph = graph_of({"pixels": list(np.asarray(images)), "age": np.arange(60.0) ** 2})
    assert picture_of(graph, 0) is not None
    assert [field.name for field in card_of(graph, 0).fields] == ["age"]


@pytest.mark.parametrize("position", [-1, 3])
def test_a_node_that_is_not_there(position: int) -> None:
    with pytest.raises(ParameterError, match="position must be 0 to 2"):
        card_of(graph_of({"w": [1, 2, 3]}), position)


def test_what_no_page_can_hold_is_on_no_card() -> None:
    ids = ["a\ud800", "b\x00", "c\u202e"]
    graph = Graph.from_scipy(np.zeros((3, 3)), np.eye(3), ids=ids)
    assert [title_of(graph, node) for node in range(3)] == ["a\ufffd", "b\ufffd", "c"]
