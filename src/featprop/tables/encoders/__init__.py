"""How the values of columns become features: one file a kind."""

from featprop.tables.encoders.base import Encoder, LeftOutError
from featprop.tables.encoders.category import CategoryEncoder
from featprop.tables.encoders.date import DateEncoder
from featprop.tables.encoders.flag import FlagEncoder
from featprop.tables.encoders.group import GroupEncoder
from featprop.tables.encoders.number import NumberEncoder
from featprop.tables.encoders.vector import VectorEncoder
from featprop.tables.encoders.words import TextEncoder

__all__ = ["ENCODERS", "Encoder", "GroupEncoder", "LeftOutError"]

ENCODERS: dict[str, type[Encoder]] = {
    kind.kind: kind
    for kind in (NumberEncoder, FlagEncoder, CategoryEncoder, DateEncoder, TextEncoder, VectorEncoder, GroupEncoder)
}
"""Each kind of column by its name."""
