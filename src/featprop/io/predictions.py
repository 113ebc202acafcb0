"""A table of predictions, and what a person changed in it.

Its columns are ``id``, ``label``, ``confidence``, ``given``, ``distance``, ``isolated`` and the probability of each
class; older ones have no ``given``, ``distance`` and ``isolated``. As featprop writes a row, ``label`` is what a person
had ``given`` or else the likeliest class, and ``confidence`` is the probability of ``label``. So a person's hand shows:
a label that is not the likeliest class, or one that the confidence does not belong to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from featprop.io.formulas import bare
from featprop.spelling import form_of

__all__ = ["PREDICTION_COLUMNS", "PROBABILITY", "Predictions"]

OLD_COLUMNS = ("id", "label", "confidence")
PREDICTION_COLUMNS = (*OLD_COLUMNS, "given", "distance", "isolated")
PROBABILITY = "probability_"


@dataclass(frozen=True)
class Predictions:
    """The columns of such a table, as text.

    Attributes
    ----------
    label, confidence, given
        What each row has there, empty text for nothing.
    probabilities
        The probability of each class, as far as it can be read, by what stands behind ``probability_``.
    """

    label: Sequence[str]
    confidence: Sequence[float | None]
    given: Sequence[str]
    probabilities: Mapping[str, Sequence[float | None]]

    @classmethod
    def of(cls, table: pa.Table, label: str = "label") -> Predictions | None:
        """Take the columns out of a table; None if it is not one of predictions."""
        titles = table.column_names
        classes = [title for title in titles if title.startswith(PROBABILITY)]
        if "rank" in titles or "confidence" not in titles or len(classes) < 2:
            return None
        given = _text(table, "given") if "given" in titles else [""] * table.num_rows
        probabilities = {title.removeprefix(PROBABILITY): _numbers(table, title) for title in classes}
        return cls(_text(table, label), _numbers(table, "confidence"), given, probabilities)

    @staticmethod
    def has_layout(titles: Sequence[str]) -> bool:
        """Return whether these are the columns of a table of predictions, as this or an older featprop writes it."""
        for columns in (PREDICTION_COLUMNS, OLD_COLUMNS):
            rest = titles[len(columns) :]
            if tuple(titles[: len(columns)]) == columns and len(rest) > 1:
                return all(title.startswith(PROBABILITY) for title in rest)
        return False

    def answer(self, row: int) -> tuple[str | None, bool]:
        """Return the label that a person gave in a row, None if nobody did, and whether it is new in this table."""
        label, given = self.label[row], self.given[row]
        if not given:
            return (None, False) if not label or self._is_likeliest(row, label) else (label, True)
        if not label:
            return given, False
        untouched = self._is_confidence_of(row, label)
        if form_of(label) == form_of(given):
            return (given, False) if untouched else (label, True)
        return (given, True) if untouched else (label, True)

    def _probability(self, row: int, name: str) -> float | None:
        """Return the probability of the class that is written so, None if there is no such class."""
        if name in self.probabilities:
            return self.probabilities[name][row]
        alike = [column for other, column in self.probabilities.items() if form_of(other) == form_of(name)]
        return alike[0][row] if alike else None

    def _is_likeliest(self, row: int, name: str) -> bool:
        probability = self._probability(row, name)
        largest = max(-1.0 if column[row] is None else column[row] or 0.0 for column in self.probabilities.values())
        return probability is not None and probability >= largest

    def _is_confidence_of(self, row: int, name: str) -> bool:
        confidence = self.confidence[row]
        return confidence is not None and confidence == self._probability(row, name)


def _text(table: pa.Table, title: str) -> list[str]:
    return ["" if value is None else bare(str(value)).strip() for value in table.column(title).to_pylist()]


def _numbers(table: pa.Table, title: str) -> list[float | None]:
    """Return numbers that a spreadsheet may have written with a comma; None for what is none."""
    return [_number(text) for text in _text(table, title)]


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
