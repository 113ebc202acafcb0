"""Databases: a real SQLite file, a real DuckDB file, and a real PostgreSQL server where its programs are installed."""

import os
import shutil
import socket
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import featprop as fp
from featprop.errors import FileError, ParameterError
from featprop.sources import GraphDescription
from featprop.sources.databases import write_table
from tests.helpers import raises

NODES = [("007", 1.5, "a"), ("8", 2.0, None), ("9", 3.5, "b"), ("10", 0.5, "b")]
EDGES = [("007", "8"), ("8", "9"), ("9", "10")]
PREDICTIONS = pa.table({"id": ["007", "8"], "prediction": ["a", "b"], "confidence": [0.9, 0.6], "label": ["a", None]})


def rows_of(path: Path | str, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def fill(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE people (id TEXT, score REAL, label TEXT)")
    connection.executemany("INSERT INTO people VALUES (?, ?, ?)", NODES)
    connection.execute("CREATE TABLE calls (caller TEXT, callee TEXT)")
    connection.executemany("INSERT INTO calls VALUES (?, ?)", EDGES)
    connection.commit()


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    connection = sqlite3.connect(tmp_path / "shop.db")
    fill(connection)
    connection.close()
    write_toml(tmp_path, "sqlite:shop.db")
    return tmp_path


def write_toml(folder: Path, address: str, schema: str = "") -> None:
    text = f'nodes = "SELECT * FROM shop{schema}.people"\n'
    text += f'edges = "SELECT caller AS source, callee AS target FROM shop{schema}.calls"\n'
    (folder / "graph.toml").write_text(f'{text}[attach]\nshop = "{address}"\n')


def check(graph: fp.Graph) -> None:
    assert graph.ids.tolist() == ["007", "8", "9", "10"]
    assert graph.class_names() == ["a", None, "b", "b"]
    assert (graph.n_edges, graph.n_features) == (3, 1)


def test_sqlite_tables_are_read_by_sql(shop: Path) -> None:
    check(fp.read_graph(shop))


def test_duckdb_files_open_by_the_names_of_their_tables(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "g.duckdb")) as connection:
        connection.execute("CREATE TABLE Nodes AS SELECT * FROM (VALUES ('007', 1.5), ('8', 2.0)) AS t(id, score)")
        connection.execute("CREATE VIEW edges AS SELECT '007' AS source, '8' AS target")
    graph = fp.read_graph(tmp_path / "g.duckdb")
    assert (graph.ids.tolist(), graph.n_edges) == (["007", "8"], 1)


def test_a_database_without_the_two_tables_says_what_it_has(shop: Path) -> None:
    with raises(FileError, path=shop / "shop.db") as caught:
        fp.read_graph(shop / "shop.db")
    assert "people" in str(caught.value)


def test_predictions_go_back_in_one_transaction(shop: Path) -> None:
    description = GraphDescription.from_toml(shop / "graph.toml")
    write_table(description, "shop.predictions", PREDICTIONS)
    with raises(FileError, path="shop.predictions"):
        write_table(description, "shop.predictions", PREDICTIONS.slice(0, 1))
    rows = rows_of(shop / "shop.db", "SELECT * FROM predictions")
    assert rows == [("007", "a", 0.9, "a"), ("8", "b", 0.6, None)]
    write_table(description, "shop.predictions", PREDICTIONS.slice(0, 1), force=True)
    with raises(ParameterError, parameter="to"):
        write_table(description, "shop.people", PREDICTIONS, force=True)
    assert len(rows_of(shop / "shop.db", "SELECT * FROM predictions")) == 1


@pytest.mark.parametrize("target", ["predictions", "other.predictions", "shop.", "shop.a.b.c"])
def test_only_attached_databases_are_written(target: str, shop: Path) -> None:
    with raises(ParameterError, parameter="to", value=target):
        write_table(GraphDescription.from_toml(shop / "graph.toml"), target, PREDICTIONS)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1; DROP TABLE shop.people",
        "WITH x AS (SELECT 1) INSERT INTO shop.people VALUES ('x', 1, 'a')",
        "FROM shop.people) TO 'stolen.csv'",
        "SELECT * FROM 'https://example.com/nodes.csv'",
        "SELECT * FROM sqlite_query('shop', 'DELETE FROM people RETURNING id')",
    ],
)
def test_sql_of_a_graph_cannot_write_or_reach_the_network(sql: str, shop: Path) -> None:
    text = (shop / "graph.toml").read_text().splitlines()
    (shop / "graph.toml").write_text("\n".join([f'nodes = """{sql}"""', *text[1:]]))
    with pytest.raises((FileError, ParameterError)):
        fp.read_graph(shop)
    assert not list(shop.glob("stolen*"))
    assert rows_of(shop / "shop.db", "SELECT count(*) FROM people") == [(4,)]


def test_the_command_line_writes_predictions_to_the_database(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.testing import CliRunner

    from featprop.cli import app

    monkeypatch.chdir(shop)
    runner = CliRunner()
    assert runner.invoke(app, ["train", "graph.toml", "--out", "model.safetensors"]).exit_code == 0
    done = runner.invoke(app, ["predict", "graph.toml", "--model", "model.safetensors", "--to", "shop.predictions"])
    assert done.exit_code == 0, done.output
    rows = rows_of("shop.db", "SELECT id, confidence FROM predictions")
    assert [row[0] for row in rows] == ["007", "8", "9", "10"]
    assert not Path("predictions.csv").exists()


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a PostgreSQL server of this test alone and yield how to connect to it."""
    found = [Path(path) for path in map(shutil.which, ("initdb", "postgres")) if path]
    found += sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if not found else []
    if not found:
        pytest.skip("no PostgreSQL server")
    programs = found[0].resolve().parent
    folder = tmp_path_factory.mktemp("postgres")
    data, user = folder / "data", "postgres"
    as_user = ["runuser", "-u", user, "--"] if os.geteuid() == 0 else []
    if as_user:
        if not shutil.which("runuser") or subprocess.run(["id", user], capture_output=True).returncode:
            pytest.skip("PostgreSQL does not run as root")
        shutil.chown(folder, user)
        for above in [folder, *folder.parents]:
            if above.stat().st_uid == 0 and above != Path("/"):
                above.chmod(above.stat().st_mode | 0o011)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    setup = [*as_user, f"{programs}/initdb", "-D", str(data), "-U", user, "-A", "trust"]
    if (done := subprocess.run(setup, capture_output=True, text=True, cwd=folder)).returncode:
        pytest.skip(f"initdb: {done.stderr[-200:]}")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1"
    control = [*as_user, f"{programs}/pg_ctl", "-D", str(data), "-w", "-o", options, "-l", str(folder / "log")]
    subprocess.run([*control, "start"], check=True, capture_output=True, cwd=folder)
    try:
        yield f"postgres:host=127.0.0.1 port={port} user={user} dbname=postgres"
    finally:
        subprocess.run([*control, "-m", "immediate", "stop"], check=True, capture_output=True, cwd=folder)


def test_a_graph_in_postgresql_is_read_and_predictions_are_written_back(postgres: str, tmp_path: Path) -> None:
    pytest.importorskip("duckdb_extension_postgres_scanner")
    description = GraphDescription(attach={"shop": postgres})
    people = pa.table(list(map(list, zip(*NODES, strict=True))), names=["id", "score", "label"])
    calls = pa.table(list(map(list, zip(*EDGES, strict=True))), names=["caller", "callee"])
    write_table(description, "shop.public.people", people)
    write_table(description, "shop.public.calls", calls)
    write_toml(tmp_path, postgres, ".public")
    check(fp.read_graph(tmp_path))
    write_table(description, "shop.public.predictions", PREDICTIONS)
    with raises(FileError, path="shop.public.predictions"):
        write_table(description, "shop.public.predictions", PREDICTIONS)
    (tmp_path / "graph.toml").write_text(
        "nodes = \"SELECT * FROM postgres_query('shop', 'DELETE FROM people RETURNING id')\"\n"
        f'[attach]\nshop = "{postgres}"\n'
    )
    with pytest.raises(FileError):
        fp.read_graph(tmp_path)
    write_toml(tmp_path, postgres, ".public")
    check(fp.read_graph(tmp_path))


def test_file_of_the_working_directory_is_never_read_in_place_of_one_of_the_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "graph").mkdir()
    (tmp_path / "graph" / "edges.csv").write_text("source,target\na,b\nb,c\n")
    (tmp_path / "graph" / "graph.toml").write_text(
        "edges = \"SELECT source, target FROM 'edges.csv' WHERE source <> 'z' AND 1.0 < 2\"\n"
    )
    monkeypatch.chdir(tmp_path)
    assert fp.read_graph("graph").n_edges == 2
    (tmp_path / "edges.csv").write_text("source,target\nx,y\n")
    with raises(FileError, path=Path("edges.csv")):
        fp.read_graph("graph")
    monkeypatch.chdir(tmp_path / "graph")
    assert fp.read_graph(".").n_edges == 2
