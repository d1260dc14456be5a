"""Records: what kernels work on, one nested object that compiled code sees as one pointer.

A record has whole numbers, real numbers, arrays, other records and lists of records of one kind as its fields:

    class Circle(Record):
        n: int
        radius: float
        places: FloatArray

A kernel reads `circle.places[0, 1]` and sets `circle.n = 3`; the same code runs as plain Python. Numbers may change in
a kernel, the contents of arrays too; which arrays and records a record is made of is settled when it is made (so that
the compiler may look up once where they are).

Why not a NamedTuple of arrays? Compiled functions would pass every part of every array by itself, hundreds of values
at each call: most of the time that compiling took. A record lies in memory as words of eight bytes, a number in one, an
array as its address and its sizes, a record as its address:

    n | radius | address, size, size of `places` | ...
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import operator
from typing import Any, ClassVar, TypeVar

import numpy as np
from numba.core import types
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_global, signature
from numba.extending import (
    NativeValue,
    infer_getattr,
    lower_builtin,
    lower_getattr_generic,
    lower_setattr_generic,
    models,
    register_model,
    unbox,
)

OwnRecord = TypeVar("OwnRecord", bound="Record")
_NUMBERS = {"int": 0, "float": 1}  # annotation, view of the words


def _number(place: int, view: int) -> property:
    """A number of a record, read from and written to its words."""

    def read(record: Record) -> Any:
        return record._views[view][place].item()

    def write(record: Record, value: Any) -> None:
        record._views[view][place] = value

    return property(read, write)


class Record:
    """A record; subclasses state its fields by annotation, in order, and are made with a value for each.

    Examples
    --------
    >>> class Circle(Record):
    ...     n: int
    ...     places: np.ndarray
    >>> circle = Circle(n=2, places=np.zeros((2, 3)))
    >>> circle.n = 5
    >>> circle.n, circle.places.shape
    (5, (2, 3))
    """

    CARRIED: ClassVar[tuple[str, ...] | None] = None  # fields that a snapshot holds; None: all of them
    _fields: ClassVar[dict[str, str]] = {}
    _order: ClassVar[list[str]] = []
    _numba_type_: Any
    _address: int

    def __init_subclass__(cls) -> None:
        stated = {name: v for name, v in inspect.get_annotations(cls).items() if name not in vars(cls)}
        cls._fields = {name: v if isinstance(v, str) else v.__name__ for name, v in stated.items()}
        # numbers first: their places do not depend on the other fields
        ordered = sorted(cls._fields, key=lambda name: cls._fields[name] not in _NUMBERS)
        for place, name in enumerate(ordered):
            if cls._fields[name] in _NUMBERS:
                setattr(cls, name, _number(place, _NUMBERS[cls._fields[name]]))
        cls._order = ordered

    def __init__(self, **fields: Any) -> None:
        if set(fields) != set(self._fields):
            raise TypeError(f"{type(self).__name__} is made of {', '.join(self._fields)}; given {', '.join(fields)}")
        self._tables: list[np.ndarray] = []  # addresses of lists of records
        words, kinds = _laid_out(self._order, fields, self._fields, self._tables)
        block = np.array(words, dtype=np.int64)
        self._views = (block, block.view(np.float64))
        self._address = block.ctypes.data
        self._numba_type_ = _type_of(type(self).__name__, kinds)
        for name, value in fields.items():
            setattr(self, name, tuple(value) if isinstance(value, list) else value)

    def replaced(self: OwnRecord, **fields: Any) -> OwnRecord:
        """The same record with some fields replaced; arrays of the others are shared."""
        return type(self)(**({name: getattr(self, name) for name in self._fields} | fields))

    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays by name."""
        return {name: v for name in self._fields if isinstance(v := getattr(self, name), np.ndarray)}

    def snapshot(self) -> dict[str, np.ndarray]:
        """Copies of what is carried from sweep to sweep, by name; of records within as "name.field"."""
        found: dict[str, np.ndarray] = {}
        for name in self._fields if self.CARRIED is None else self.CARRIED:
            value = getattr(self, name)
            if isinstance(value, Record | tuple):
                parts = enumerate(value) if isinstance(value, tuple) else [("", value)]
                for i, part in parts:
                    found |= {f"{name}{i}.{inside}": array for inside, array in part.snapshot().items()}
            else:
                found[name] = np.array(value, ndmin=1)
        return found

    def restore(self, snapshot: dict[str, np.ndarray], prefix: str = "") -> None:
        """Put back what `snapshot` holds under names with a prefix, in place."""
        for name in self._fields if self.CARRIED is None else self.CARRIED:
            value = getattr(self, name)
            if isinstance(value, Record | tuple):
                parts = enumerate(value) if isinstance(value, tuple) else [("", value)]
                for i, part in parts:
                    part.restore(snapshot, f"{prefix}{name}{i}.")
                continue
            saved = snapshot[prefix + name]
            if isinstance(value, np.ndarray):
                if saved.shape != value.shape:
                    raise ValueError(f"{prefix}{name} has shape {saved.shape}, not {value.shape}")
                value[...] = saved
            else:
                setattr(self, name, saved.item())

    def __reduce__(self) -> Any:
        return _remade, (type(self), {name: getattr(self, name) for name in self._fields})


def _remade(kind: type[Record], fields: dict[str, Any]) -> Record:
    return kind(**fields)


def _laid_out(
    order: list[str], fields: dict[str, Any], stated: dict[str, str], tables: list[np.ndarray]
) -> tuple[list[int], list[Any]]:
    """Words of a record, and (name, type, place) of each field."""
    words: list[int] = []
    kinds: list[tuple[str, Any, int]] = []
    for name in order:
        value = fields[name]
        place = len(words)
        if stated[name] in _NUMBERS:
            words.append(0)  # set afterwards
            kind: Any = types.int64 if stated[name] == "int" else types.float64
        elif isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise TypeError(f"{name} is not contiguous")
            words += [value.ctypes.data, *value.shape]
            kind = _array_type(value.dtype, value.ndim)
        elif isinstance(value, Record):
            words.append(value._address)
            kind = value._numba_type_
        elif isinstance(value, list | tuple):
            table = np.array([len(value), *(v._address for v in value)], dtype=np.int64)
            words.append(table.ctypes.data)
            tables.append(table)
            kind = _list_type(value[0]._numba_type_)
        else:
            raise TypeError(f"{name}={value!r} is not a number, array or record")
        kinds.append((name, kind, place))
    return words, kinds


@functools.cache
def _array_type(dtype: np.dtype[Any], n_dims: int) -> Any:
    """Kept, as Numba takes its time to make one."""
    return types.Array(_scalar(dtype), n_dims, "C")


@functools.cache
def _list_type(record: Any) -> Any:
    return RecordListType(record)


def _scalar(dtype: np.dtype[Any]) -> Any:
    found = {"f8": types.float64, "i8": types.int64, "f4": types.float32}.get(dtype.str[1:])
    if found is None:
        raise TypeError(f"arrays of {dtype} are not for records")
    return found


# --- for the compiler -----------------------------------------------------------------------------------------------


class RecordType(types.Type):  # type: ignore[misc]
    """Numba's type of a record: fields as (name, type, place in words). Its name is short, as symbols contain it."""

    def __init__(self, record: str, fields: tuple[tuple[str, Any, int], ...]) -> None:
        self.fields = {name: (kind, place) for name, kind, place in fields}
        told = ",".join(f"{name}:{kind}@{place}" for name, kind, place in fields)
        super().__init__(name=f"{record}_{hashlib.sha256(told.encode()).hexdigest()[:10]}")


class RecordListType(types.Type):  # type: ignore[misc]
    """Numba's type of a list of records of one type."""

    def __init__(self, record: RecordType) -> None:
        self.record = record
        super().__init__(name=f"list_{record.name}")


_TYPES: dict[tuple[Any, ...], RecordType] = {}


def _type_of(name: str, kinds: list[Any]) -> RecordType:
    key = (name, *kinds)
    if key not in _TYPES:
        _TYPES[key] = RecordType(name, tuple(kinds))
    return _TYPES[key]


@register_model(RecordType)
@register_model(RecordListType)
class _AddressModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, kind: Any) -> None:
        from llvmlite import ir

        super().__init__(manager, kind, ir.IntType(64).as_pointer())


@infer_getattr
class _Attributes(AttributeTemplate):  # type: ignore[misc]
    key = RecordType

    def generic_resolve(self, record: RecordType, name: str) -> Any:  # type: ignore[override]
        found = record.fields.get(name)
        return None if found is None else found[0]


def _word(builder: Any, address: Any, place: int, fixed: bool) -> Any:
    """The word at a place; one that never changes may be read once and kept."""
    from llvmlite import ir

    value = builder.load(builder.gep(address, [ir.Constant(ir.IntType(64), place)], inbounds=True))
    if fixed:
        value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return value


def _array(context: Any, builder: Any, kind: Any, address: Any, place: int) -> Any:
    """The array whose address and sizes stand at a place."""
    from llvmlite import ir

    model, word = context.data_model_manager[kind], ir.IntType(64)
    itemsize = ir.Constant(word, context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    pointer = context.get_data_type(kind.dtype).as_pointer()
    data = builder.inttoptr(_word(builder, address, place, True), pointer)
    sizes = [_word(builder, address, place + 1 + d, True) for d in range(kind.ndim)]
    strides, n_items = [itemsize] * kind.ndim, ir.Constant(word, 1)
    for d in range(kind.ndim - 1, -1, -1):
        if d + 1 < kind.ndim:
            strides[d] = builder.mul(strides[d + 1], sizes[d + 1])
        n_items = builder.mul(n_items, sizes[d])
    value = ir.Constant(context.get_value_type(kind), None)  # no owner: the record's Python object keeps it alive

    def put(value: Any, part: Any, *names: Any) -> Any:
        return builder.insert_value(value, part, [model.get_field_position(names[0]), *names[1:]])

    value = put(value, n_items, "nitems")
    value = put(value, itemsize, "itemsize")
    value = put(value, data, "data")
    for d in range(kind.ndim):
        value = put(value, sizes[d], "shape", d)
        value = put(value, strides[d], "strides", d)
    return value


@lower_getattr_generic(RecordType)
def _read(context: Any, builder: Any, record: RecordType, address: Any, name: str) -> Any:
    from llvmlite import ir

    kind, place = record.fields[name]
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, address, place)
    if isinstance(kind, RecordType | RecordListType):
        return builder.inttoptr(_word(builder, address, place, True), ir.IntType(64).as_pointer())
    value = _word(builder, address, place, False)
    return builder.bitcast(value, ir.DoubleType()) if kind is types.float64 else value


@lower_setattr_generic(RecordType)
def _write(context: Any, builder: Any, told: Any, arguments: Any, name: str) -> None:
    from llvmlite import ir

    record, value = arguments
    kind, place = told.args[0].fields[name]
    if kind not in (types.int64, types.float64):
        raise NotImplementedError(f"{name} is settled when a record is made")
    value = context.cast(builder, value, told.args[1], kind)
    if kind is types.float64:
        value = builder.bitcast(value, ir.IntType(64))
    builder.store(value, builder.gep(record, [ir.Constant(ir.IntType(64), place)], inbounds=True))


@unbox(RecordType)
def _unboxed(kind: RecordType, value: Any, c: Any) -> Any:
    from llvmlite import ir

    address = c.pyapi.object_getattr_string(value, "_address")
    number = c.pyapi.long_as_longlong(address)
    c.pyapi.decref(address)
    pointer = c.builder.inttoptr(number, ir.IntType(64).as_pointer())
    return NativeValue(pointer, is_error=c.pyapi.c_api_error())


@infer_global(operator.getitem)
class _OfList(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        if not keywords and isinstance(arguments[0], RecordListType) and isinstance(arguments[1], types.Integer):
            return signature(arguments[0].record, arguments[0], types.int64)
        return None


@infer_global(len)
class _LengthOfList(AbstractTemplate):  # type: ignore[misc]
    def generic(self, arguments: Any, keywords: Any) -> Any:
        found = not keywords and isinstance(arguments[0], RecordListType)
        return signature(types.int64, arguments[0]) if found else None


@lower_builtin(operator.getitem, RecordListType, types.int64)
def _of_list(context: Any, builder: Any, told: Any, arguments: Any) -> Any:
    from llvmlite import ir

    place = builder.add(arguments[1], ir.Constant(ir.IntType(64), 1))
    value = builder.load(builder.gep(arguments[0], [place], inbounds=True))
    value.set_metadata("invariant.load", builder.module.add_metadata([]))
    return builder.inttoptr(value, ir.IntType(64).as_pointer())


@lower_builtin(len, RecordListType)
def _length_of_list(context: Any, builder: Any, told: Any, arguments: Any) -> Any:
    return _word(builder, arguments[0], 0, True)
