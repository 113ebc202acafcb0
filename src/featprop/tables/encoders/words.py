"""Free text: its words, rare ones counting more, in a bounded number of features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from featprop.matrix import Features, unit_rows
from featprop.tables.encoders.base import Encoder, LeftOutError, text_of

__all__ = ["TextEncoder"]

WIDEST = 1024
"""How many words have a feature, the most frequent ones."""
TOO_FREQUENT = 0.9
"""Words in more than this share of the texts tell little."""


@dataclass(frozen=True)
class TextEncoder(Encoder):
    """Free text, as TF-IDF.

    Attributes
    ----------
    words_kept
        The words that have a feature.
    rarity
        How much each counts.
    """

    kind: ClassVar[str] = "text"
    says_much: ClassVar[bool] = True

    words_kept: tuple[str, ...]
    rarity: tuple[float, ...]

    @classmethod
    def learn(cls, columns: Sequence[pa.Array], names: Sequence[str]) -> Self:  # noqa: ARG003
        """Learn which words there are and how rare."""
        from sklearn.feature_extraction.text import CountVectorizer

        texts = _texts(columns[0])
        counter = CountVectorizer(strip_accents="unicode", min_df=2, max_df=TOO_FREQUENT, max_features=WIDEST)
        try:
            counts = counter.fit_transform(texts)
        except ValueError as error:
            raise LeftOutError(_why_not(texts)) from error
        there = np.bincount(counts.indices, minlength=counts.shape[1])
        rarity = np.log((1 + len(texts)) / (1 + there)) + 1
        return cls(tuple(counter.get_feature_names_out().tolist()), tuple(np.round(rarity, 6).tolist()))

    def apply(self, columns: Sequence[pa.Array | None], rows: int) -> Features:
        """Return rows of length 1, of zeros where there is no known word."""
        from sklearn.feature_extraction.text import CountVectorizer

        if columns[0] is None:
            return sp.csr_array((rows, len(self.words_kept)), dtype=np.float32)
        counter = CountVectorizer(strip_accents="unicode", vocabulary=list(self.words_kept))
        counts = sp.csr_array(counter.transform(_texts(columns[0])), dtype=np.float32)
        counts.data = (1 + np.log(counts.data)) * np.array(self.rarity, dtype=np.float32)[counts.indices]
        return unit_rows(counts)

    def titles(self, name: str) -> list[str]:
        """Return the column and the word."""
        return [f"{name}: {word}" for word in self.words_kept]

    def settings(self) -> dict[str, Any]:
        """Return all of it."""
        return {"words": list(self.words_kept), "rarity": list(self.rarity)}

    @classmethod
    def restored(cls, settings: dict[str, Any]) -> Self:
        """Check and take it."""
        words, rarity = settings["words"], settings["rarity"]
        if not 0 < len(words) == len(rarity) <= WIDEST or len(set(words)) < len(words):
            raise ValueError("words that do not have one number each")
        if any(not isinstance(word, str) for word in words) or not np.isfinite(np.array(rarity, dtype=float)).all():
            raise ValueError("words or numbers of another type")
        return cls(tuple(words), tuple(rarity))

    @property
    def words(self) -> str:
        """Say how many words count."""
        return f"TF-IDF of {len(self.words_kept):,} words"


def _why_not(texts: list[str]) -> str:
    """Say why no word has a feature."""
    from sklearn.feature_extraction.text import CountVectorizer

    try:
        CountVectorizer(strip_accents="unicode", min_df=2).fit(texts)
    except ValueError:
        return "no word is in several texts"
    return "every word is in nearly every text, or in one only"


def _texts(values: pa.Array) -> list[str]:
    texts: list[str] = pc.fill_null(text_of(values), "").to_pylist()
    return texts
