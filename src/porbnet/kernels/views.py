"""Parts of arrays, for kernels: as slices, without what slices do for indices that are negative or too large.

A slice is a page of instructions for the compiler; these are a few. The caller sees to it that 0 ≤ start and that the
part lies within the array.
"""

from __future__ import annotations

from typing import Any

from numba.core import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import lower_builtin


def part(array: Any, start: int, stop: int) -> Any:
    """array[start:stop] of an array of one dimension."""
    return array[start:stop]


def row_part(array: Any, row: int, start: int, stop: int) -> Any:
    """array[row, start:stop] of an array of two dimensions."""
    return array[row, start:stop]


@infer_global(part)
class _Part(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        array = arguments[0]
        found = isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"
        return signature(array, array, types.int64, types.int64) if found else None


@infer_global(row_part)
class _RowPart(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        array = arguments[0]
        found = isinstance(array, types.Array) and array.ndim == 2 and array.layout == "C"
        whole = (types.int64,) * 3
        return signature(types.Array(array.dtype, 1, "C"), array, *whole) if found else None


def _of(context: Any, builder: Any, kind: Any, data: Any, start: Any, stop: Any) -> Any:
    """An array of one dimension whose first element is data[start]."""
    from llvmlite import ir

    model, word = context.data_model_manager[kind], ir.IntType(64)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    length = builder.sub(stop, start)
    value = ir.Constant(context.get_value_type(kind), None)
    parts = {"nitems": length, "itemsize": itemsize, "data": builder.gep(data, [start], inbounds=True)}
    for name, part_of in parts.items():
        value = builder.insert_value(value, part_of, [model.get_field_position(name)])
    value = builder.insert_value(value, length, [model.get_field_position("shape"), 0])
    return builder.insert_value(value, itemsize, [model.get_field_position("strides"), 0])


@lower_builtin(part, types.Array, types.int64, types.int64)
def _lower_part(context: Any, builder: Any, told: Any, arguments: Any) -> Any:
    kind, (array, start, stop) = told.args[0], arguments
    data = builder.extract_value(array, context.data_model_manager[kind].get_field_position("data"))
    return _of(context, builder, kind, data, start, stop)


@lower_builtin(row_part, types.Array, types.int64, types.int64, types.int64)
def _lower_row_part(context: Any, builder: Any, told: Any, arguments: Any) -> Any:
    kind, (array, row, start, stop) = told.args[0], arguments
    model = context.data_model_manager[kind]
    data = builder.extract_value(array, model.get_field_position("data"))
    columns = builder.extract_value(array, [model.get_field_position("shape"), 1])
    data = builder.gep(data, [builder.mul(row, columns)], inbounds=True)
    return _of(context, builder, told.return_type, data, start, stop)
