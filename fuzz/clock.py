"""A clock that counts how often it is read, and keys by lot: what is made with them is the same every time."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import time
import uuid
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import openpyxl.packaging.core
import openpyxl.writer.excel

import featprop.labels.log

__all__ = ["repeatable"]

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@contextmanager
def repeatable() -> Iterator[None]:
    """Give label logs, workbooks and archives of the block times and keys that are theirs again in the next one."""
    seconds, chance = itertools.count(), random.Random(0)

    class Counting(dt.datetime):
        @classmethod
        def now(cls, tz: dt.tzinfo | None = None) -> Any:
            return (START + dt.timedelta(seconds=next(seconds))).astimezone(tz)

    class Undated(zipfile.ZipFile):
        def write(self, filename: Any, arcname: Any = None, *_: Any) -> None:
            self.writestr(arcname or filename, Path(filename).read_bytes())

    dates = SimpleNamespace(datetime=Counting, timezone=dt.timezone, UTC=dt.UTC)
    keys = SimpleNamespace(uuid4=lambda: uuid.UUID(int=chance.getrandbits(128), version=4))
    clock = SimpleNamespace(time=START.timestamp, localtime=time.gmtime)
    with ExitStack() as stack:
        for module, name, stands_in in (
            (featprop.labels.log, "dt", dates),
            (featprop.labels.log, "uuid", keys),
            (openpyxl.packaging.core, "datetime", dates),
            (openpyxl.writer.excel, "datetime", dates),
            (openpyxl.writer.excel, "ZipFile", Undated),
            (zipfile, "time", clock),
        ):
            stack.enter_context(patch.object(module, name, stands_in))
        yield
