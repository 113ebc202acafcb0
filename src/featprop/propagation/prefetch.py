"""Asking for memory before it is needed: rows of neighbours are anywhere, and waiting for them is most of a sum."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

__all__ = ["prefetch"]

READ, KEPT, DATA = 0, 3, 1
"""What LLVM's prefetch is told: to be read, kept in all caches, and data rather than instructions."""


@intrinsic
def prefetch(typing_context, array, row, column):  # type: ignore[no-untyped-def]  # noqa: ARG001
    """Bring an entry of a matrix, and what shares its 64 bytes, into the caches; nothing is read and nothing waits."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = signature.args[0]
        matrix = context.make_array(kind)(context, builder, arguments[0])
        entry = cgutils.get_item_pointer(  # type: ignore[no-untyped-call]
            context, builder, kind, matrix, arguments[1:], wraparound=False
        )
        pointer, number = ir.PointerType(), ir.IntType(32)
        takes = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
        name = "llvm.prefetch.p0"
        function = cgutils.get_or_insert_function(builder.module, takes, name)  # type: ignore[no-untyped-call]
        builder.call(function, [builder.bitcast(entry, pointer), number(READ), number(KEPT), number(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp), generate
