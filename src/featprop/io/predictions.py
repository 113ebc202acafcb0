"""A table of predictions, and what a person changed in it.

Its columns are ``id``, ``label``, ``confidence``, ``given``, ``distance``, ``isolated`` and the probability of each
class. As featprop writes a row, ``label`` is what a person
had ``given`` or else the likeliest class, and ``confidence`` is the probability of ``label``. So a person's hand shows:
a label that is not the likeliest class, or one that the confidence does not belong to. A spreadsheet may have written
the numbers in percent or with fewer digits; where the probabilities are lost, only ``given`` tells what a person said.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property

import pyarrow as pa

from featprop.errors import LabelError
from featprop.features.missing import is_no_class
from featprop.io.formulas import bare
from featprop.spelling import form_of

__all__ = ["PREDICTION_COLUMNS", "PROBABILITY", "Predictions"]

log = logging.getLogger(__name__)

PREDICTION_COLUMNS = ("id", "label", "confidence", "given", "distance", "isolated")
PROBABILITY = "probability_"
DECIMALS = 4
"""Those of the probabilities that featprop writes."""


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
    confidence: Sequence[Decimal | None]
    given: Sequence[str]
    probabilities: Mapping[str, Sequence[Decimal | None]]

    @classmethod
    def of(cls, table: pa.Table, label: str = "label") -> Predictions | None:
        """Take the columns out of a table; None if it is not one of predictions, whole or with columns lost."""
        titles = {title.strip().casefold(): title for title in table.column_names}
        classes = [title for title in table.column_names if title.strip().casefold().startswith(PROBABILITY)]
        if "rank" in titles or ("prediction" in titles and not classes):
            return None
        probabilities = {title.strip()[len(PROBABILITY) :]: _numbers(table, title) for title in classes}
        words, given = (
            ["" if is_no_class(text) and text not in probabilities else text for text in _text(table, title)]
            for title in (label, titles.get("given"))
        )
        found = cls(words, _numbers(table, titles.get("confidence")), given, probabilities)
        is_signed = not classes and any(_text(table, titles.get("annotator")))
        return found if found._is_ours(titles, is_signed=is_signed) else None

    def _is_ours(self, titles: Mapping[str, str], *, is_signed: bool) -> bool:
        """Say whether columns of these titles are those of predictions: a table of labels may have some of them.

        A ``confidence`` of words is somebody's own, and so is one in a table that `is_signed`, which has no
        probabilities and names an annotator, and a ``given`` that is nowhere the label.
        """
        if "confidence" in titles and (len(self.probabilities) > 1 or (_are_shares(self.confidence) and not is_signed)):
            return True
        rows = range(len(self.label))
        if "given" in titles and ({"distance", "isolated"} <= titles.keys() or any(map(self._is_as_given, rows))):
            return True
        return len(self.probabilities) > 1 and bool(rows) and all(map(self.tells, rows))

    @staticmethod
    def has_layout(titles: Sequence[str]) -> bool:
        """Return whether these are the columns of a table of predictions as featprop writes it."""
        size = len(PREDICTION_COLUMNS)
        is_ours = tuple(titles[:size]) == PREDICTION_COLUMNS and len(titles) > size + 1
        return is_ours and all(title.startswith(PROBABILITY) for title in titles[size:])

    def check(self, what: str) -> None:
        """Refuse a table, called `what`, in which predictions cannot be told from labels that a person gave.

        Without any probability it still tells what was given before: that counts, and a warning says so.
        """
        rows = range(len(self.label))
        unclear = [row for row in rows if self.label[row] and not self.given[row] and not self.tells(row)]
        if not unclear:
            return
        if any(self.given) and not any(map(self.tells, rows)):
            lost = "has lost the probabilities that tell corrections from predictions"
            cure = "restore them, or pass corrections in a sheet of their own (id, label)"
            log.warning("%s %s: only rows with something in the column given count; %s", what, lost, cure)
            return
        found = f"{len(unclear):,} labels without the probability of every class, first in row {unclear[0] + 2:,}"
        ours = f"confidence, given and {PROBABILITY}…"
        cure = f"restore the table, or delete its columns {ours} if a person gave all these labels"
        raise LabelError(what, "must tell predictions from labels that a person gave", found, cure)

    def tells(self, row: int) -> bool:
        """Say whether a row has the probability of every class: they add up to 1, as far as their digits go."""
        shares = [column[row] for column in self.probabilities.values()]
        known = [share for share in shares if share is not None]
        slack = len(known) * _half_a_unit(min(self._decimals, DECIMALS))
        return bool(known) and len(known) == len(shares) and abs(sum(known, Decimal(-1))) <= slack

    def answer(self, row: int) -> tuple[str | None, bool]:
        """Return the label that a person gave in a row, None if nobody did, and whether it is new in this table."""
        label, given = self.label[row], self.given[row]
        if not given:
            is_new = bool(label) and self.tells(row) and not self._is_likeliest(row, label)
            return (label, True) if is_new else (None, False)
        if not label:
            return given, False
        untouched = self._is_confidence_of(row, label)
        if self._is_as_given(row):
            is_new = self.tells(row) and self.confidence[row] is not None and not untouched
            return (label, True) if is_new else (given, False)
        return (given, True) if untouched else (label, True)

    def _is_as_given(self, row: int) -> bool:
        return bool(self.given[row]) and form_of(self.label[row]) == form_of(self.given[row])

    def _probability(self, row: int, name: str) -> Decimal | None:
        """Return the probability of the class that is written so, None if there is no such class."""
        if name in self.probabilities:
            return self.probabilities[name][row]
        alike = [column for other, column in self.probabilities.items() if form_of(other) == form_of(name)]
        return alike[0][row] if alike else None

    def _is_likeliest(self, row: int, name: str) -> bool:
        probability = self._probability(row, name)
        shares = [column[row] for column in self.probabilities.values()]
        return probability is not None and probability >= max(share for share in shares if share is not None)

    def _is_confidence_of(self, row: int, name: str) -> bool:
        confidence, probability = self.confidence[row], self._probability(row, name)
        return confidence is not None and probability is not None and abs(confidence - probability) <= self._slack

    @cached_property
    def _decimals(self) -> int:
        """How many decimals the probabilities are written with."""
        return max(map(_decimals, self.probabilities.values()), default=0)

    @cached_property
    def _slack(self) -> Decimal:
        """How far confidence and probability may be apart where a spreadsheet has rounded one of the two."""
        written = {_decimals(self.confidence), self._decimals}
        return _half_a_unit(min(written)) if len(written) > 1 else Decimal(0)


def _text(table: pa.Table, title: str | None) -> list[str]:
    if title is None:
        return [""] * table.num_rows
    return ["" if value is None else bare(str(value)).strip() for value in table.column(title).to_pylist()]


def _numbers(table: pa.Table, title: str | None) -> list[Decimal | None]:
    """Return numbers that a spreadsheet may have written with a comma or in percent; None for what is none."""
    return [_number(text) for text in _text(table, title)]


def _number(text: str) -> Decimal | None:
    digits = text.removesuffix("%")
    try:
        number = Decimal(digits.strip().replace(",", "."))
    except InvalidOperation:
        return None
    if not number.is_finite():
        return None
    return number if digits == text else number.scaleb(-2)


def _decimals(numbers: Sequence[Decimal | None]) -> int:
    """Return how many decimals numbers are written with: the zeros at the end of some may be gone."""
    exponents = [number.as_tuple().exponent for number in numbers if number is not None]
    return max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)


def _half_a_unit(decimals: int) -> Decimal:
    return Decimal(5).scaleb(-decimals - 1)


def _are_shares(numbers: Sequence[Decimal | None]) -> bool:
    """Say whether there are numbers, all of them from 0 to 1."""
    known = [number for number in numbers if number is not None]
    return bool(known) and all(0 <= number <= 1 for number in known)
