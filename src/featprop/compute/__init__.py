"""Computing on rows in chunks, in memory, on mapped files or on a Dask cluster: hops, reduction and distances."""

from featprop.compute.backend import (
    Backend,
    DiskBackend,
    compute_on,
    get_backend,
    split_into_chunks,
    sum_in_order,
    use_backend,
)
from featprop.compute.mapped_arrays import release_pages

__all__ = [
    "Backend",
    "DiskBackend",
    "compute_on",
    "get_backend",
    "release_pages",
    "split_into_chunks",
    "sum_in_order",
    "use_backend",
]
