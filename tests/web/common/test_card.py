"""Cards of nodes."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse as sp

from featprop.datasets import digits
from featprop.graph import Graph
from featprop.web.common.card import Card, Field, build_card, find_image, node_picture, node_title
from featprop.web.common.features import summarize_features

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
    """A hundred people with a column of each kind, and a class that no card may show."""
    bios = [f"number {place} likes long walks and word{place} and word{place * 7 % 31}" for place in range(N)]
    return graph_of(
        {
            "site": [f"https://example.org/{place}?a=1&b=2" for place in range(N)],
            "vector": [[float(place), -1.5, 2.0] for place in range(N)],
            "member": [place % 4 == 0 for place in range(N)],
            "country": ["DE" if place < 75 else "FR" for place in range(N)],
            "town": [f"town {place % 10}" for place in range(N)],
            "age": [place + 0.5 for place in range(N - 1)] + [None],
            "fee": [f"{1001 + place * 1000.0875:.2f}".replace(".", ",") for place in range(N)],
            "balance": [f"${1000 * (N - place):,.2f}" for place in range(N)],
            "since": [f"{1 + place % 28:02d}.{1 + place % 12:02d}.2019" for place in range(N)],
            "bio": bios,
            "email": [f"p{place}@example.org" for place in range(N)],
            "name": [f"Person {chr(65 + place % 26)}{place}" for place in range(N)],
            "bank": ["0001"] * N,
            "label": ["good", "bad"] * (N // 2),
        }
    )


def test_order_of_fields(people: Graph) -> None:
    card = build_card(people, 12)
    assert card.title == "Person M12"
    assert [field.name for field in card.fields] == [
        "bio", "site", "vector", "member", "country", "town", "age", "fee", "balance", "since", "email", "bank", "id",
    ]  # fmt: skip
    assert card.picture is None
    assert card.n_hidden == 0


def test_card_does_not_show_the_class(people: Graph) -> None:
    shown = repr(build_card(people, 12))
    assert "label" not in shown
    assert "good" not in shown
    other = graph_of({"label": ["a b", "c d", "e f"], "kind": ["x", "y", "x"], "w": [1, 2, 3]}, label="kind")
    assert build_card(other, 1).title == "c d"
    assert set(fields(build_card(other, 1))) == {"id", "w"}


@pytest.mark.parametrize(
    ("node", "name", "kind", "text", "place", "note"),
    [
        (12, "age", "number", "12.5", 12 / 99, "higher than 12 % of nodes"),
        (12, "balance", "number", "$88,000.00", 0.87, "higher than 87 % of nodes"),
        (0, "age", "number", "0.5", 0, "lowest value"),
        (40, "fee", "number", "41,004.5", 0.4, "higher than 40 % of nodes"),
        (3, "since", "date", "4 April 2019", 0.27, "later than 27 % of nodes"),
        (12, "town", "category", "town 2", None, "10 % of nodes"),
        (12, "country", "flag", "DE", None, "75 % of nodes"),
        (12, "member", "flag", "yes", None, "25 % of nodes"),
        (12, "bank", "category", "0001", None, "100 % of nodes"),
        (3, "email", "code", "p3@example.org", None, ""),
        (12, "vector", "vector", "3 numbers from -1.5 to 12", None, ""),
        (99, "age", "number", "", None, "missing"),
    ],
)
def test_fields_by_kind(people: Graph, node: int, name: str, kind: str, text: str, place: Any, note: str) -> None:
    field = fields(build_card(people, node))[name]
    assert (field.kind, field.text, field.note) == (kind, text, note)
    assert field.place == (None if place is None else pytest.approx(place))


def test_equal_numbers_have_the_same_percentile() -> None:
    graph = graph_of({"w": [1.0, 2.0, 2.0, 2.0, 3.0], "v": [5, 1, 4, 2, 3]})
    assert [fields(build_card(graph, node))["w"].place for node in range(5)] == pytest.approx([0, 0.2, 0.2, 0.2, 0.8])


def test_node_without_a_name_has_its_id_as_title() -> None:
    graph = graph_of({"name": ["Ada", None, " "], "w": [1, 2, 3]})
    assert [node_title(graph, node) for node in range(3)] == ["Ada", "n1", "n2"]
    assert [field.name for field in build_card(graph, 0).fields] == ["w", "id"]
    assert [field.name for field in build_card(graph, 1).fields] == ["name", "w"]


def test_long_text_is_cut() -> None:
    graph = graph_of({"text": ["some words " * 1000, "a b c", "d e f"], "w": [1, 2, 3]})
    field = fields(build_card(graph, 0))["text"]
    assert 4990 < len(field.text) <= 5000
    assert field.text.endswith("words some…")
    assert "6,000" in field.note


@pytest.mark.parametrize(
    ("value", "is_link"),
    [
        ("https://example.org/a?b=c", True), ("HTTP://example.org", True), ("javascript:alert(1)", False),
        ("https://exa mple.org", False), ('https://x.org/"onclick="alert(1)', False), ("data:text/html,<b>", False),
        ("ftp://example.org", False), ("https://", False), ("//example.org", False),
        ("see https://example.org", False), ("https://x.org/\x07", False), ("file:///etc/passwd", False),
    ],
)  # fmt: skip
def test_only_web_addresses_are_links(value: str, is_link: bool) -> None:
    graph = graph_of({"site": [value, "b", "c"], "w": [1, 2, 3]})
    field = fields(build_card(graph, 0))["site"]
    assert (field.kind == "link") == is_link
    assert field.href == (value if is_link else None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of images next to a secret, with links that lead in and out."""
    images = tmp_path / "images"
    (images / "sub dir").mkdir(parents=True)
    for name in ("a.png", "sub dir/b&c.JPG", "run.svg", "secret.txt"):
        (images / name).write_bytes(b"x")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (images / "out.png").symlink_to(tmp_path / "secret.png")
    (images / "text.png").symlink_to(images / "secret.txt")
    (images / "in.png").symlink_to(images / "a.png")
    return images


def test_images_on_a_card(folder: Path) -> None:
    names = ["sub dir/b&c.JPG", "../secret.png", "https://x.org/a.png"]
    graph = graph_of({"photo": names, "w": [1, 2, 3]})
    shown = [fields(build_card(graph, node, folder))["photo"] for node in range(3)]
    assert shown[0] == Field("photo", "image", names[0], href="/images/sub%20dir/b%26c.JPG")
    assert (shown[1].kind, shown[1].text, shown[1].href) == ("code", names[1], None)
    assert shown[2] == Field("photo", "link", names[2], href=names[2])
    assert build_card(graph, 0, folder).fields[0].name == "photo"
    assert fields(build_card(graph, 0))["photo"] == Field("photo", "code", names[0])
    assert find_image(folder / "gone", "a.png") is None


def test_wide_table_is_cut() -> None:
    generator = np.random.default_rng(0)
    names = [f"x{chr(97 + place % 26)}{chr(97 + place // 26)}" for place in range(120)]
    graph = graph_of({name: generator.normal(size=20) for name in names})
    card = build_card(graph, 0)
    assert len(card.fields) == 100
    assert card.n_hidden == 20


def test_words_are_listed_rarest_first() -> None:
    common = {f"word{chr(97 + place)}": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0] * 4 for place in range(26)}
    often = {f"often{chr(97 + place)}": [0, 1, 0, 0, 0, 0, 0, 0, 0, 0] * 4 for place in range(26)}
    rare = {"seldom": [1] + [0] * 39}
    graph = graph_of(common | often | rare)
    (field,) = build_card(graph, 0).fields
    assert field.text.split(", ")[:3] == ["seldom", "worda", "wordb"]
    assert "27 of 53" in field.note
    (none,) = build_card(graph, 5).fields
    assert (none.kind, none.text) == ("text", "")


@pytest.mark.parametrize("name", ["Name", "title", "company_name"])
def test_unique_names_are_titles(name: str) -> None:
    graph = graph_of({"title_of": ["Dr", "Ms"] * 20, name: [f"P{place} AG" for place in range(40)], "w": range(40)})
    assert node_title(graph, 3) == "P3 AG"


def test_large_group_of_columns_is_summarized() -> None:
    generator = np.random.default_rng(0)
    columns = {f"w_{place}": generator.normal(size=40) for place in range(20)}
    card = build_card(graph_of(columns | {"age": generator.normal(size=40)}), 3)
    assert [field.name for field in card.fields] == ["age", "w_0 … w_19"]
    assert "20" in card.fields[1].text


def test_features_without_names_or_table() -> None:
    ring = sp.diags_array([np.ones(99), np.ones(99)], offsets=[-1, 1])
    bag = sp.random_array((100, 300), density=0.02, rng=np.random.default_rng(0), dtype=np.float64)
    (words,) = build_card(Graph.from_scipy(ring, bag), 4).fields
    assert {int(word.split()[1]) for word in words.text.split(", ")} == set(bag.tocsr()[[4]].indices.tolist())
    numbers = np.random.default_rng(0).normal(size=(100, 30))
    card = build_card(Graph.from_scipy(ring, numbers), 4)
    assert (card.title, [(field.name, field.kind) for field in card.fields]) == ("4", [("features", "vector")])
    few = build_card(Graph.from_scipy(ring, np.arange(300).reshape(100, 3)), 4)
    assert [(field.name, field.text) for field in few.fields] == [
        ("feature 0", "12"), ("feature 1", "13"), ("feature 2", "14")
    ]  # fmt: skip


def test_pixels_are_a_picture() -> None:
    graph = digits()
    card = build_card(graph, 0)
    assert card.fields == []
    assert card.picture is not None
    assert card.picture.startswith("<svg")
    assert "style=" not in card.picture
    table = graph_of({"pixels": list(np.asarray(graph.features[:60])), "age": np.arange(60.0) ** 2})
    assert node_picture(table, 0) is not None
    assert [field.name for field in build_card(table, 0).fields] == ["age"]
    sparse = Graph.from_scipy(graph.adjacency, sp.csr_array(graph.features))
    picture = node_picture(sparse, 3)
    assert picture is not None
    assert np.array_equal(picture.pixels, np.rint(8 * np.asarray(graph.features)[3].reshape(8, 8)))


def test_only_ordered_pixels_are_a_picture() -> None:
    def summary_kind(features: np.ndarray) -> str:
        graph = Graph.from_scipy(sp.csr_array((len(features),) * 2), features)
        return summarize_features(graph, "x", 0, features.shape[1]).kind

    generator = np.random.default_rng(0)
    images = np.asarray(digits().features)
    assert summary_kind(images) == "picture"
    assert summary_kind(images[:, generator.permutation(64)]) == "numbers"
    assert summary_kind(generator.normal(size=(500, 64))) == "numbers"
    assert summary_kind(generator.normal(size=(500, 1)) + generator.normal(size=(500, 64))) == "numbers"
    assert summary_kind((generator.random((500, 1024)) < 0.02).astype(float)) == "words"
    assert summary_kind(np.ones((500, 64))) == "numbers"
