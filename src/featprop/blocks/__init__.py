"""Rows in blocks: where they live (memory, mapped files, the workers of a cluster) and who computes on them."""

from featprop.blocks.leaf import LEAF, leaves, sum_in_order
from featprop.blocks.on_disk import OnDisk
from featprop.blocks.places import InMemory, Place, place, working_at
from featprop.blocks.scaling import working
from featprop.blocks.stored import let_go

__all__ = [
    "LEAF",
    "InMemory",
    "OnDisk",
    "Place",
    "leaves",
    "let_go",
    "place",
    "sum_in_order",
    "working",
    "working_at",
]
