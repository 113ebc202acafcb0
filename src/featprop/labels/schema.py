"""The tables and views of a label log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import cache

__all__ = ["APPLICATION", "COLUMNS", "FORMAT", "SCHEMA", "own_schema", "schema_of", "statements"]

FORMAT = 1
"""Version of the file format, stored as ``user_version``."""
APPLICATION = 0x66656174
"""``feat``: by this SQLite, and `file`, know whose file it is."""
SCHEMA = f"""
CREATE TABLE acts (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    time TEXT NOT NULL,
    annotator TEXT NOT NULL,
    round INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (
        kind IN ('label', 'correct', 'skip', 'adjudicate', 'undo', 'note', 'audit', 'release', 'class')
    ),
    node TEXT NOT NULL,
    label TEXT,
    text TEXT NOT NULL,
    undoes INTEGER REFERENCES acts (number)
);
CREATE INDEX acts_of_node ON acts (node);
CREATE INDEX acts_undone ON acts (undoes);
CREATE TRIGGER acts_stay BEFORE UPDATE ON acts BEGIN SELECT RAISE(ABORT, 'an act is never changed'); END;
CREATE TRIGGER acts_last BEFORE DELETE ON acts BEGIN SELECT RAISE(ABORT, 'an act is never deleted'); END;
CREATE VIEW standing AS
    SELECT * FROM acts AS act
    WHERE kind NOT IN ('undo', 'note', 'audit', 'release', 'class')
    AND NOT EXISTS (SELECT 1 FROM acts WHERE undoes = act.number);
CREATE VIEW answers AS
    SELECT * FROM standing
    WHERE number IN (SELECT max(number) FROM standing WHERE kind != 'adjudicate' GROUP BY node, annotator);
CREATE VIEW verdicts AS
    SELECT * FROM standing
    WHERE number IN (SELECT max(number) FROM standing WHERE kind = 'adjudicate' GROUP BY node);
CREATE VIEW audit AS
    SELECT * FROM acts
    WHERE kind = 'audit' AND number > coalesce((SELECT max(number) FROM acts WHERE kind = 'release'), 0);
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT};
"""
COLUMNS = "number, key, time, annotator, round, kind, node, label, text, undoes"


def statements(script: str) -> Iterator[str]:
    """Cut a script into statements; `executescript` would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def schema_of(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    """Return the type, the name and the text of all that a database has, whatever the spaces in it."""
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    return frozenset((str(kind), str(name), " ".join(str(text).split())) for kind, name, text in rows)


@cache
def own_schema() -> frozenset[tuple[str, str, str]]:
    """Return the schema of a label log."""
    with closing(sqlite3.connect(":memory:")) as made:
        for statement in statements(SCHEMA):
            made.execute(statement)
        return schema_of(made)
