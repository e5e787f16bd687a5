"""The interface of a module below the loop level: module attributes with all facts that a run needs.

```
builtin.module attributes {
  xrelay.inputs = [{name = "data", type = tensor<1x3x224x224xf32>}],
  xrelay.outputs = [{name = "prob", type = tensor<1x1000xf32>}],
  xrelay.weights = [{name = "conv1.w", type = tensor<64x3x7x7xf32>, value = #relay.weight<"conv1.w", "…">}],
  xrelay.arena_size = 802816 : i64,
  xrelay.kernels = [{name = "fused_conv2d_relu", sources = ["conv1", "relu1"]}],
  xrelay.calls = [{name = "fused_conv2d_relu", sources = ["conv2", "relu2"]}]
} {…}
```

`xrelay.calls` lists the calls of kernels that may fail, if their source nodes differ from those of the kernel.

The arguments of `@main` are the inputs, the outputs, the weights and the arena, then the sizes of named dimensions. The
attribute holds the name and key of a weight; its bytes stay in memory or in a side file.

With named dimensions, types contain their names (`tensor<?x8xf32, #relay.dims<n>>`), and there are two more attributes:

```
  xrelay.dims = ["n"],
  xrelay.checks = [{text = "n >= 1", requires = #relay.requirements<n >= 1>, sources = ["reshape1"]}]
```

The arena's size is then 0: `@main_plan` computes it.

If a run needs memory beside the arena, `xrelay.memory` holds the bytes that are known at compile time, and descriptions
of the memory that is not counted:

```
  xrelay.memory = {dynamic_buffers = 128 : i64, kernels = 0 : i64, each_thread = 0 : i64,
                   uncounted = ["sequences, optionals and closures"]}
```

An output whose type has a dimension that is not in `xrelay.dims` is no argument: `@main` returns it, since its extents
are known only during the run. Sequences, optionals and closures (`type = !relay.sequence<tensor<?xf32>>`) are returned
too. The other outputs are arguments, in order.

With `xrelay.polls`, a run can be cancelled, in loops or between kernels. With `xrelay.straight` in addition, the
module consists of kernel calls and counted loops, so runs with the same sizes take about the same time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute
from xdsl.utils.hints import isa

from xrelay.dialects.loop.list_ops import ListType
from xrelay.dialects.loop.signature import dim_arguments, dim_names, input_arguments, scratch_count
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.attribute_names import (
    ARENA,
    ARENA_SIZE,
    CHECKS,
    CONTAINER,
    DIMS,
    INPUTS,
    LOOP_DIMS,
    MEMORY,
    NEEDS,
    NUM_OUTPUTS,
    OUTPUT_PLACE,
    OUTPUTS,
    REQUIRES,
    SOURCES,
    VALUE_NAME,
    WEIGHTS,
)
from xrelay.dialects.shared.dims_attr import DimsAttr
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.types import ClosureType, OptionalType, SequenceType, tensor_type
from xrelay.errors import LoweringError
from xrelay.passes.loop.signature import argument_attrs

_CHECK_FIELDS = {"requires": REQUIRES, "sources": SOURCES}
"""Key of a check → attribute of the assertion."""


def write_interface(module: ModuleOp, weights: Sequence[tuple[Attribute, Attribute]]) -> None:
    """Writes the interface of a module at the loop level, whose `@main` takes only inputs, outputs and the arena.

    Buffers that `@main` returns are outputs too; `loop.place` is their number among all outputs, by default after those
    that are arguments. `weights` are the values and the buffer types of the arguments that the weights of `@main`
    become. A module without `@main`, or whose `@main` has no number of outputs, has no interface.
    """
    main = next((op for op in module.ops if isinstance(op, func.FuncOp) and op.sym_name.data == "main"), None)
    if main is None or not main.body.blocks or NUM_OUTPUTS not in main.attributes:
        return
    args, attrs = main.body.block.args, argument_attrs(main)
    first, end = len(input_arguments(main)), len(args) - len(dim_arguments(main)) - scratch_count(main)
    names = [_recorded_name(attributes) for attributes in attrs]
    inputs = [_first_known(name, args[n].name_hint, f"input{n}") for n, name in enumerate(names[:first])]
    arena = sum(_arena_bytes(args[n].type) for n, attributes in enumerate(attrs) if ARENA in attributes)
    tensors = [_named_tensor(arg.type, attributes) for arg, attributes in zip(args, attrs, strict=True)]
    module.attributes[INPUTS] = _tensors(zip(inputs, tensors[:first], strict=True))
    _check_kinds(main, tensors[first:end])
    outputs = ordered_outputs(main, list(zip(names[first:end], tensors[first:end], strict=True)))
    module.attributes[OUTPUTS] = _tensors(
        (_first_known(name, f"output{n}"), type) for n, (name, type) in enumerate(outputs)
    )
    module.attributes[WEIGHTS] = ArrayAttr([_weight(n, value, type) for n, (value, type) in enumerate(weights)])
    module.attributes[ARENA_SIZE] = IntegerAttr(arena, i64)
    if NEEDS in main.attributes:
        module.attributes[MEMORY] = main.attributes[NEEDS]
    if names := dim_names(main):
        module.attributes[DIMS] = ArrayAttr([StringAttr(name) for name in names])


def write_kernels(module: ModuleOp, key: str, kernels: Iterable[tuple[str, Attribute | None]]) -> None:
    """Writes a list of kernels or calls: the symbol and the sources of each, in the order of their numbers."""
    entries = [
        DictionaryAttr({"name": StringAttr(name)} | ({"sources": sources} if sources is not None else {}))
        for name, sources in kernels
    ]
    if entries:
        module.attributes[key] = ArrayAttr(entries)


def write_checks(module: ModuleOp, assertions: Iterable[cf.AssertOp]) -> dict[cf.AssertOp, int]:
    """Writes the conditions of the assertions of graph functions as checks; returns the number of each assertion.

    Equal checks share a number.
    """
    rows: dict[DictionaryAttr, int] = {}
    numbers: dict[cf.AssertOp, int] = {}
    for op in assertions:
        fields = {key: op.attributes[name] for key, name in _CHECK_FIELDS.items() if name in op.attributes}
        numbers[op] = rows.setdefault(DictionaryAttr({"text": op.msg, **fields}), len(rows))
    if rows:
        module.attributes[CHECKS] = ArrayAttr(list(rows))
    return numbers


def add_checks(module: ModuleOp, texts: Sequence[str]) -> list[int]:
    """Appends checks with these texts; returns their numbers."""
    rows = module.attributes.get(CHECKS)
    known = list(rows.data) if is_attribute(rows, ArrayAttr[DictionaryAttr]) else []
    module.attributes[CHECKS] = ArrayAttr([*known, *(DictionaryAttr({"text": StringAttr(text)}) for text in texts)])
    return list(range(len(known), len(known) + len(texts)))


def has_interface(module: ModuleOp) -> bool:
    """Whether a module has interface attributes."""
    return INPUTS in module.attributes


def _recorded_name(attributes: dict[str, Attribute]) -> str | None:
    name = attributes.get(VALUE_NAME)
    return name.data if isinstance(name, StringAttr) else None


def ordered_outputs(
    function: func.FuncOp, written: Sequence[tuple[str | None, Attribute]]
) -> list[tuple[str | None, Attribute]]:
    """Returns the names and types of all outputs: those `written`, and the buffers and lists that a function returns.

    Outputs without an explicit number get the free numbers in order.
    """
    returned = _returned(function)
    numbered = [place for place, _, _ in returned if place is not None]
    count = len(written) + len(returned)
    left = iter(number for number in range(count) if number not in numbered)
    rows = [(next(left, -1), name, type) for name, type in written]
    rows += [(next(left, -1) if place is None else place, name, type) for place, name, type in returned]
    rows.sort(key=lambda row: row[0])
    if [number for number, _, _ in rows] != list(range(count)):
        raise LoweringError(f"@main has {count} outputs, {OUTPUT_PLACE} puts some at {numbered}",
                            location=location_of(function))  # fmt: skip
    return [(name, _tensor(type)) for _, name, type in rows]


def _returned(main: func.FuncOp) -> list[tuple[int | None, str | None, Attribute]]:
    """Returns the number, the name and the type of each output that `main` returns as a buffer or list."""
    types = main.function_type.outputs.data
    attributes = main.res_attrs.data if main.res_attrs is not None else [DictionaryAttr({})] * len(types)
    found: list[tuple[int | None, str | None, Attribute]] = []
    for type, attrs in zip(types, (dict(each.data) for each in attributes), strict=True):
        if isinstance(type, MemRefType | ListType):
            place = attrs.get(OUTPUT_PLACE)
            number = place.value.data if isinstance(place, IntegerAttr) else None
            found.append((number, _recorded_name(attrs), _named_tensor(type, attrs)))
    return found


def _check_kinds(main: func.FuncOp, written: Sequence[Attribute]) -> None:
    """Raises `LoweringError` unless `main` returns exactly the outputs with dimensions that it does not bind."""
    names = set(dim_names(main))
    returned = [type for _, _, type in _returned(main)]
    for number, type in enumerate([*written, *returned]):
        dims = type.encoding if isa(type, TensorType) else None
        is_list = isinstance(type, SequenceType | OptionalType | ClosureType)
        is_dynamic = is_list or (isinstance(dims, DimsAttr) and not all(dim.names <= names for dim in dims.data))
        if is_dynamic != (number >= len(written)):
            how, kind = ("writes", "do not follow") if is_dynamic else ("returns", "follow")
            raise LoweringError(f"@main {how} {type}, whose extents {kind} from its inputs",
                                location=location_of(main))  # fmt: skip


def _first_known(*names: str | None) -> str:
    return next(name for name in names if name is not None)


def _arena_bytes(type: Attribute) -> int:
    """Returns the arena's size in bytes, or 0 if it depends on named dimensions."""
    return max(type.get_shape()[0], 0) if isinstance(type, MemRefType) else 0


def _named_tensor(type: Attribute, attributes: dict[str, Attribute]) -> Attribute:
    """Returns the tensor type of a buffer, with the names of its dynamic extents; for a list, its container type."""
    if isinstance(type, ListType):
        return attributes.get(CONTAINER, type)
    dims = attributes.get(LOOP_DIMS)
    if not isa(type, MemRefType) or not isinstance(dims, DimsAttr):
        return type
    return TensorType(type.element_type, type.get_shape(), dims)


def _tensors(entries: Iterable[tuple[str, Attribute]]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({"name": StringAttr(name), "type": _tensor(type)}) for name, type in entries])


def _tensor(type: Attribute) -> Attribute:
    """Returns the tensor type of a buffer."""
    return tensor_type(type.get_shape(), type.element_type) if isinstance(type, MemRefType) else type


def _weight(number: int, value: Attribute, type: Attribute) -> DictionaryAttr:
    name = value.data.name if isinstance(value, WeightAttr) else f"constant{number}"
    return DictionaryAttr({"name": StringAttr(name), "type": _tensor(type), "value": value})
