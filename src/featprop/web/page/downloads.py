"""Exports of the label log as files to download."""

from __future__ import annotations

from contextlib import nullcontext
from typing import NamedTuple

from starlette.responses import Response

from featprop.errors import unknown_choice
from featprop.labels import LabelLog, export_labels, label_studio_config
from featprop.web.page.session import Session

CONFIGURATION = "label-studio-config"


class Download(NamedTuple):
    """A file format.

    Attributes
    ----------
    suffix
        File extension.
    media_type
        Media type.
    about
        Description.
    """

    suffix: str
    media_type: str
    about: str


DOWNLOADS = {
    "csv": Download(".csv", "text/csv; charset=utf-8", "One row per answer, for spreadsheets and pandas."),
    "jsonl": Download(".jsonl", "application/x-ndjson", "One JSON line per answer (doccano)."),
    "label-studio": Download(".json", "application/json", "Tasks with answers and predictions (Label Studio)."),
    CONFIGURATION: Download(".xml", "application/xml", "Labelling configuration for these tasks (Label Studio)."),
}


def download(session: Session, kind: str) -> Response:
    """Return all current answers as a file."""
    if kind not in DOWNLOADS:
        raise unknown_choice("format", kind, DOWNLOADS)
    chosen = DOWNLOADS[kind]
    with nullcontext(session.log) if session.log.path is None else LabelLog(session.log.path, read_only=True) as log:
        if kind == CONFIGURATION:
            content = label_studio_config(log, session.graph, session.classes)
        else:
            content = export_labels(log, session.graph, kind, predict=session.prediction)
    stem = "labels" if session.log.path is None else session.log.path.stem
    name = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_") else "_" for letter in stem)
    headers = {"Content-Disposition": f'attachment; filename="{name}-{kind}{chosen.suffix}"'}
    return Response(content, media_type=chosen.media_type, headers=headers)
