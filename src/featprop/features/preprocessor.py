"""Learn once how the columns of a table become features, keep it as JSON, and replay it by name on other tables.

A table is cut into **feature groups**: one for each column, except for columns that are parts of one thing
(`featprop.features.grouping`), which form one group. Each group becomes numbers by its kind and is multiplied so that
the variances of its features add up to its weight:

    1              for a column that holds one fact: a number, a flag, a date, a category
    1 + log2(d)    for a text, a list or a group of columns that span d dimensions, (Σv)² / Σv² of their variances v

So one flag counts as much as another, however rare or wide, and an embedding of 300 numbers counts as nine of them:
more, without drowning the others. A table with a single group that is taken unchanged, such as a bag of words or one
embedding, stays unchanged.
"""

from __future__ import annotations

import hashlib
import json
import logging
import typing
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Self

import numpy as np
import pyarrow as pa
import scipy.sparse as sp
from numpy.typing import NDArray

from featprop.errors import GraphError, ModelError, ParameterError, first_five, shorten, unknown_choice
from featprop.features.encoders import Encoded, Encoder, FitOptions, IgnoredColumn, UnusableColumnError
from featprop.features.grouping import find_groups
from featprop.features.parsing import (
    find_decimal_mark,
    has_value,
    is_most,
    is_mostly_read,
    plain_array,
    read_numbers,
    sample,
)
from featprop.features.profile import MIN_MISSING_SHARE, Kind, Reason, describe_values, infer_kind
from featprop.features.wide_encoders import ENCODERS, UNCHANGED_KINDS
from featprop.matrix import Features, side_by_side

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ColumnProfile:
    """What a column, or a group of columns, is and what it becomes."""

    columns: tuple[str, ...]  # one, or those that are parts of one thing
    encoder: Encoder  # what turns them into features
    reason: Reason  # why they have their kind
    missing: float = 0.0  # share of missing values
    examples: str = ""  # typical values, in a few words
    marks_missing: bool = False  # whether the last feature marks missing values, of which there are many
    scale: float = 1.0  # factor the features are multiplied by

    @property
    def name(self) -> str:
        """Name of the column; first and last name of several."""
        return self.columns[0] if len(self.columns) == 1 else f"{self.columns[0]} … {self.columns[-1]}"

    @property
    def kind(self) -> Kind:
        """Kind of the columns, `Kind.IGNORED` if they are not used."""
        return self.encoder.kind

    @property
    def transformation(self) -> str:
        """What becomes of the values, in a few words."""
        if self.kind == Kind.IGNORED:
            return f"ignored: {self.reason}"
        return f"{self.encoder}, missing values marked" if self.marks_missing else str(self.encoder)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each feature."""
        return (*self.encoder.feature_names(self.columns), *[f"{self.name} is missing"] * self.marks_missing)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    def read(self, table: pa.RecordBatch | pa.Table) -> pa.Array:
        """Return the columns as one array, nulls for a column that the table lacks."""
        names = table.schema.names
        arrays = [
            plain_array(table.column(name)) if name in names else pa.nulls(table.num_rows, pa.float64())
            for name in self.columns
        ]
        return pa.StructArray.from_arrays(arrays, list(self.columns)) if self.kind == Kind.GROUP else arrays[0]

    def transform(self, values: pa.Array) -> Encoded:
        """Return the features of the values of `read`, and which values are missing or could not be read."""
        matrix, missing = self.encoder.transform(values)
        if self.marks_missing:
            marker = (self.encoder.missing_value * missing).astype(np.float32)
            matrix = side_by_side([matrix, marker[:, None]])
        if self.scale == 1:
            return Encoded(matrix, missing)
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (matrix * np.float32(self.scale)).astype(np.float32)
        # adding 0 turns -0 into 0, as in sparse matrices
        return Encoded(scaled if sp.issparse(scaled) else np.add(scaled, 0, out=scaled), missing)


@dataclass(frozen=True, eq=False)
class TablePreprocessor:
    """How the columns of a table become features.

    Attributes
    ----------
    profiles
        Kind and encoding of each column or group of columns, in the order of the columns.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [20, 30, 40, 50, 60], "member": ["yes", "no", "no", "yes", "no"]})
    >>> preprocessor = TablePreprocessor.fit(table)
    >>> preprocessor.feature_names
    ('age', 'member')
    >>> preprocessor.transform(table).shape
    (5, 2)
    """

    profiles: tuple[ColumnProfile, ...]

    @classmethod
    def fit(
        cls,
        table: pa.Table,
        *,
        kinds: Mapping[str, str] | None = None,
        ignore: Collection[str] = (),
        decimal: str | None = None,
        vocabulary: int | None = None,
    ) -> Self:
        """Learn from a table; one without a usable column gives a preprocessor without features.

        Parameters
        ----------
        table
            The rows to learn from.
        kinds
            Kinds of columns by name, where they should differ from what the values show.
        ignore
            Names or patterns (``w_*``) of columns to leave out.
        decimal
            Decimal mark of text columns whose values do not show it, ``"."`` or ``","``.
        vocabulary
            Number of words or items of a column that have a feature.
        """
        if decimal not in (None, ".", ","):
            raise unknown_choice("decimal", decimal, (".", ","))
        if vocabulary is not None and vocabulary < 1:
            message = f"`vocabulary` must be at least 1, not {vocabulary}."
            raise ParameterError(message, parameter="vocabulary", value=vocabulary)
        requested = _requested_kinds(table.column_names, kinds or {}, ignore)
        columns = {name: plain_array(table.column(name)) for name in table.column_names}
        decimal = decimal or _find_decimal_hint([values for name, values in columns.items() if name not in requested])
        inferred = {
            name: infer_kind(name, values, decimal) for name, values in columns.items() if name not in requested
        }
        members = {name: names for names in find_groups(inferred, columns, decimal) for name in names}
        parts = list(dict.fromkeys(members.get(name, (name,)) for name in columns))
        profiles = []
        for names in parts:
            arrays = [columns[name] for name in names]
            kind = Kind.GROUP if len(names) > 1 else requested.get(names[0]) or inferred[names[0]]
            is_requested = names[0] in requested
            profiles.append(_fit_columns(names, arrays, kind, is_requested, FitOptions(decimal, vocabulary)))
        found = cls(tuple(profiles))
        return cls(tuple(replace(each, scale=1.0) for each in profiles)) if found.keeps_numbers else found

    def transform(self, table: pa.Table) -> Features:
        """Return the features of a table.

        A column that the table lacks counts as missing in every row, and a warning says so.
        """
        (features,) = self.transform_batches([table])
        return features

    def transform_batches(self, batches: Iterable[pa.RecordBatch | pa.Table]) -> Iterator[Features]:
        """Yield the features of each batch, warning once at the end about values that could not be read."""
        unread: Counter[str] = Counter()
        examples: dict[str, str] = {}
        for number, batch in enumerate(batches):
            if number == 0:
                self._check_columns(batch.schema.names)
            matrices: list[Features] = []
            for group in self.groups:
                values = group.read(batch)
                matrix, missing = group.transform(values)
                matrices.append(matrix)
                mask = missing & has_value(values) if missing.any() else missing
                if mask.any():
                    unread[group.name] += int(np.count_nonzero(mask))
                    first = values[int(np.flatnonzero(mask)[0])].as_py()
                    examples.setdefault(group.name, repr(shorten(str(first), 40)))
            yield side_by_side(matrices) if matrices else np.zeros((batch.num_rows, 0), dtype=np.float32)
        for name, count in unread.items():
            what = "Column %s: %s values cannot be read and count as missing, for example %s"
            log.warning(what, name, f"{count:,}", examples[name])

    def _check_columns(self, names: Collection[str]) -> None:
        """Warn about columns that a table with these columns lacks; refuse a table that lacks all of them."""
        absent = [name for name in self.column_names if name not in names]
        if absent and len(absent) == len(self.column_names):
            hint = "Use a table with these columns, spelled the same."
            message = f"The table has none of the columns that the features were learned from: {first_five(absent)}."
            raise GraphError(message, hint=hint, column=absent[0])
        if absent:
            log.warning("Columns that the table lacks count as missing: %s", first_five(absent))

    @cached_property
    def groups(self) -> tuple[ColumnProfile, ...]:
        """The columns and groups of columns that become features."""
        return tuple(each for each in self.profiles if each.kind != Kind.IGNORED)

    @cached_property
    def feature_names(self) -> tuple[str, ...]:
        """Name of each feature."""
        return tuple(name for group in self.groups for name in group.feature_names)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Columns that become features."""
        return tuple(name for group in self.groups for name in group.columns)

    @property
    def keeps_numbers(self) -> bool:
        """Whether a single group is taken unchanged."""
        return len(self.groups) == 1 and self.groups[0].kind in UNCHANGED_KINDS

    @property
    def raw_columns(self) -> frozenset[str]:
        """Columns that are features unchanged."""
        is_group = self.keeps_numbers and self.groups[0].kind == Kind.GROUP
        return frozenset(self.groups[0].columns if is_group else ())

    @cached_property
    def fingerprint(self) -> str:
        """Digest that only preprocessors with the same effect share."""
        effects = [replace(each, reason=Reason.REQUESTED, missing=0.0, examples="") for each in self.groups]
        text = json.dumps(TablePreprocessor(tuple(effects)).to_json())
        return hashlib.sha256(text.encode()).hexdigest()

    def summary(self) -> str:
        """Return the kinds of the columns, and which are ignored and why, in one line."""
        used: dict[str, list[str]] = {}
        for each in self.groups:
            used.setdefault(each.kind, []).append(each.name)
        left = [f"{each.name} ({each.reason})" for each in self.profiles if each.kind == Kind.IGNORED]
        kinds = ", ".join(f"{kind} ({_list_names(names)})" for kind, names in used.items()) or "none"
        return f"Columns: {kinds}." + (f" Ignored: {_list_names(left)}." if left else "")

    def to_json(self) -> list[Any]:
        """Return the preprocessor as JSON values."""
        return [{"kind": str(each.kind)} | asdict(each) for each in self.profiles]

    @classmethod
    def from_json(cls, data: Any) -> Self:
        """Return the preprocessor that `to_json` wrote; raise `ModelError` if anything is wrong with it."""
        try:
            return cls(tuple(_load_profile(each) for each in data))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"The settings of the table's columns are damaged: {shorten(str(error), 200)}") from error


def _list_names(names: list[str]) -> str:
    """Return the first five names, and how many more there are."""
    more = f" and {len(names) - 5:,} more" if len(names) > 5 else ""
    return f"{', '.join(names[:5])}{more}"


def profile(table: pa.Table, **options: Any) -> list[ColumnProfile]:
    """Return the kind and the encoding of each column of a table; options are those of `TablePreprocessor.fit`."""
    return list(TablePreprocessor.fit(table, **options).profiles)


def _requested_kinds(names: list[str], kinds: Mapping[str, str], ignore: Collection[str]) -> dict[str, Kind]:
    """Return the kinds of the columns that the user decided."""
    choices = [str(each) for each in Kind if each != Kind.GROUP]
    for name, kind in kinds.items():
        if name not in names:
            raise unknown_choice("kinds", name, names)
        if kind not in choices:
            raise unknown_choice("kinds", kind, choices)
    requested = {name: Kind(kind) for name, kind in kinds.items()}
    for pattern in ignore:
        matching = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not matching:
            raise unknown_choice("ignore", pattern, names)
        requested |= dict.fromkeys(matching, Kind.IGNORED)
    return requested


def _find_decimal_hint(columns: Iterable[pa.Array]) -> str | None:
    """Return the comma if the values of any text column show it: it is a hint for the other columns."""
    texts = [sample(values) for values in columns if pa.types.is_string(values.type)]
    shown = (text for text in texts if find_decimal_mark(text).text == ",")
    return "," if any(is_mostly_read(read_numbers(text, ","), text) for text in shown) else None


def _fit_columns(
    columns: tuple[str, ...], arrays: list[pa.Array], kind: Kind | Reason, is_requested: bool, options: FitOptions
) -> ColumnProfile:
    """Learn how a column, or a group of columns, becomes features; it is ignored if nothing can be learned."""
    is_group = kind == Kind.GROUP
    reason = kind if isinstance(kind, Reason) else Reason.REQUESTED if is_requested else Reason.DETECTED
    values = pa.StructArray.from_arrays(arrays, list(columns)) if is_group else arrays[0]
    examples = f"{len(columns):,} columns of numbers" if is_group else describe_values(values)
    ignored = ColumnProfile(columns, IgnoredColumn(), reason, _share(~has_value(values)), examples)
    if isinstance(kind, Reason) or kind == Kind.IGNORED:
        return ignored
    try:
        encoder = ENCODERS[kind].fit(values, options)
        matrix, missing = encoder.transform(values)
        known = has_value(values)
        if not is_most(int(np.count_nonzero(known & ~missing)), int(np.count_nonzero(known))):
            raise UnusableColumnError(Reason.UNREADABLE)
        found = ColumnProfile(columns, encoder, reason, _share(missing), examples)
        if encoder.missing_value > 0 and found.missing >= MIN_MISSING_SHARE:
            found = replace(found, marks_missing=True)
            matrix, _ = found.transform(values)
        variances = _measure_variances(matrix)
        if encoder.missing_value > 0 and not variances.any():
            raise UnusableColumnError(Reason.CONSTANT)
        return replace(found, scale=_find_scale(encoder, variances))
    except UnusableColumnError as error:
        if is_requested:
            message = f"Column {columns[0]!r} cannot be used as {kind}: {error}."
            raise GraphError(message, column=columns[0], value=str(kind)) from error
        return replace(ignored, reason=error.args[0])


def _share(mask: NDArray[np.bool_]) -> float:
    return float(mask.mean()) if mask.size else 0.0


def _measure_variances(matrix: Features) -> NDArray[np.float64]:
    """Return the variance of each feature."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not sp.issparse(matrix):
            return np.asarray(matrix.var(axis=0, dtype=np.float64))
        sparse = sp.csr_array(matrix, dtype=np.float64)
        return np.asarray(sparse.power(2).mean(axis=0) - sparse.mean(axis=0) ** 2).clip(min=0)


def _find_scale(encoder: Encoder, variances: NDArray[np.float64]) -> float:
    """Return the factor that makes the variances of a group add up to its weight.

    It is 1 for variances that no factor in single precision makes up for.
    """
    total = float(variances.sum())
    if not np.finfo(np.float32).tiny <= total < np.inf:
        return 1.0
    weight = 1 + np.log2(total**2 / float((variances**2).sum())) if encoder.has_dimensions else 1.0
    return float(f"{np.sqrt(weight / max(total, encoder.min_variance)):.9g}")


def _load_profile(data: Mapping[str, Any]) -> ColumnProfile:
    encoder = _load(ENCODERS[Kind(data["kind"])], data["encoder"])
    others = {name: value for name, value in data.items() if name not in ("kind", "encoder", "reason")}
    loaded: ColumnProfile = _load(ColumnProfile, others, encoder=encoder, reason=Reason(data["reason"]))
    if not loaded.columns or (len(loaded.columns) > 1 and loaded.kind != Kind.GROUP):
        raise ValueError("a feature group has the wrong columns")
    return loaded


def _load(cls: type[Any], data: Mapping[str, Any], **loaded: Any) -> Any:
    """Return a dataclass whose fields are JSON values of exactly the types it declares, except for those `loaded`."""
    hints = typing.get_type_hints(cls)
    return cls(**{name: _load_value(value, hints[name]) for name, value in data.items()} | loaded)


def _load_value(value: Any, hint: Any) -> Any:
    if typing.get_origin(hint) is tuple and isinstance(value, list):
        return tuple(_load_value(each, typing.get_args(hint)[0]) for each in value)
    if hint is float and type(value) is int:
        value = float(value)
    if type(value) is not hint or (hint is float and not np.isfinite(value)):
        raise ValueError(f"{shorten(repr(value), 40)} is not a valid value")
    return value
