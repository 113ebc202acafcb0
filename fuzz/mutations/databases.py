"""SQLite files: rows and schema changed by SQL, or pages by bytes."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from fuzz.mutations.content import mutated_bytes
from fuzz.mutations.extremes import extreme

__all__ = ["mutate_database"]

COLUMNS = ("number", "key", "time", "annotator", "round", "kind", "node", "label", "text", "undoes")
ENDLESS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
SCHEMA = (
    "DROP VIEW audit", "DROP VIEW standing", "DROP TABLE events", "DROP INDEX events_of_node", "PRAGMA user_version = 0",
    "PRAGMA user_version = 2", "PRAGMA user_version = 99", "PRAGMA user_version = -1",
    "PRAGMA application_id = 0", "CREATE TABLE other (a)", "ALTER TABLE events ADD COLUMN extra", "VACUUM",
    "ALTER TABLE events RENAME TO events2", "ALTER TABLE events DROP COLUMN text", "PRAGMA journal_mode = DELETE",
    f"DROP VIEW audit; CREATE VIEW audit AS {ENDLESS} SELECT a.* FROM events a, n",
    "DROP VIEW standing; CREATE VIEW standing AS SELECT * FROM standing",
    "CREATE TRIGGER t AFTER INSERT ON events BEGIN INSERT INTO events SELECT number + 1000, key || '+', time, annotator, "
    "round, kind, node, label, text, source, undoes FROM events; END",
    "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END",
)  # fmt: skip


def mutate_database(random: random.Random, path: Path) -> None:
    """Change a database where it is."""
    if random.random() < 0.35:
        path.write_bytes(mutated_bytes(random, path.read_bytes()))
        return
    with closing(sqlite3.connect(path)) as database:
        if random.random() < 0.35:
            with suppress(sqlite3.Error):
                database.executescript(random.choice(SCHEMA))
            return
        triggers = database.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        database.execute("PRAGMA ignore_check_constraints = 1")
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        for _ in range(random.choice([1, 1, 3])):
            with suppress(sqlite3.Error, OverflowError):
                _change(random, database)
        for _, statement in triggers:
            database.execute(statement)
        database.commit()


def _change(random: random.Random, database: sqlite3.Connection) -> None:
    rows = [number for (number,) in database.execute("SELECT number FROM events")] or [0]
    row, column, way = random.choice(rows), random.choice(COLUMNS), random.randrange(6)
    if way <= 2:
        value = extreme(random)
        if isinstance(value, list | dict):
            value = random.choice(
                [b"\xff\x00", str(value), '{"a": 1}', "[1, 2]", '{"date": "2024-13-01"}', '["tuple"]']
            )
        if isinstance(value, str) and random.random() < 0.3:
            value = f'"{value}"'
        some = "" if random.random() < 0.2 else f" WHERE number = {row}"
        database.execute(f"UPDATE events SET {column} = ?{some}", (value,))
    elif way == 3:
        database.execute(f"DELETE FROM events WHERE number = {row}")
    elif way == 4:
        database.execute(
            f"UPDATE events SET {column} = (SELECT {column} FROM events WHERE number = {random.choice(rows)})"
        )
    else:
        database.execute(
            f"INSERT INTO events SELECT number + 1000000, key || '{random.random()}', time, annotator, round, "
            f"'{random.choice(['undo', 'note', 'skip', 'audit', 'release', 'class', 'label'])}', node, label, text, source, "
            f"{random.choice(['NULL', str(row), '-1', '99999', 'number + 1000000'])} FROM events WHERE number = {row}"
        )
