"""What can be taken away: every export of the label log as a file."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from starlette.responses import Response

from featprop.errors import unknown_choice
from featprop.labels import LabelLog, export_labels, label_studio_config
from featprop.web.page.desk import Desk

__all__ = ["DOWNLOADS", "download"]

CONFIGURATION = "label-studio-config"


class Download(NamedTuple):
    """A kind of file.

    Attributes
    ----------
    ending
        How its name ends.
    media
        What it is called in HTTP.
    about
        What it is, for people.
    """

    ending: str
    media: str
    about: str


DOWNLOADS = {
    "csv": Download(".csv", "text/csv; charset=utf-8", "A sheet with a row an answer, for spreadsheets and pandas."),
    "jsonl": Download(".jsonl", "application/x-ndjson", "A line an answer, as doccano reads it."),
    "label-studio": Download(".json", "application/json", "Tasks with answers and predictions, for Label Studio."),
    CONFIGURATION: Download(".xml", "application/xml", "The labelling configuration for these tasks."),
}


def download(desk: Desk, kind: str) -> Response:
    """Return what people said as a file of the kind of that name."""
    if kind not in DOWNLOADS:
        raise unknown_choice("format", kind, DOWNLOADS)
    chosen = DOWNLOADS[kind]
    with nullcontext(desk.log) if desk.log.path is None else LabelLog(desk.log.path, read_only=True) as log:
        if kind == CONFIGURATION:
            content = label_studio_config(log, desk.graph, desk.classes)
        else:
            content = export_labels(log, desk.graph, kind, predict=desk.prediction)
    stem = "labels" if desk.log.path is None else desk.log.path.stem
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "_" for letter in stem)
    headers = {"Content-Disposition": f'attachment; filename="{name}-{kind}{chosen.ending}"'}
    return Response(content, media_type=chosen.media, headers=headers)
