"""Rows in blocks: where they live (memory, mapped files, the workers of a cluster) and who computes on them."""

from featprop.compute.leaf import LEAF, leaves, sum_in_order
from featprop.compute.on_disk import OnDisk
from featprop.compute.places import InMemory, Place, place, working_at
from featprop.compute.scaling import working
from featprop.compute.stored import let_go

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
