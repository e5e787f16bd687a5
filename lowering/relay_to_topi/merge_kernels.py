"""`relay-merge-kernels`: replaces small kernels that differ in extents alone by one kernel with named dimensions."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Final, TypeGuard

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.size_hints import add_size_hints
from xrelay.dialects.relay.structure.call import NamedCallOp, parameter_names
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE, RESHAPE_ONLY
from xrelay.dialects.shared.op_lists import calls_by_callee
from xrelay.dialects.shared.types import AnyTensorType, function_type, tensor_type
from xrelay.errors import XRelayError
from xrelay.index_algebra.dims import Dim, symbol
from xrelay.lowering.relay_to_topi import registry as strategies
from xrelay.lowering.relay_to_topi.convert_relay_to_topi import convert_kernel
from xrelay.passes.graph.dim_substitution import dim_names_in
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.graph.replacements import retype
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass

MAX_ELEMENTS: Final = 1 << 14
"""The maximum number of elements of a kernel's arguments and results: it then runs for at most a few microseconds."""


@dataclass(frozen=True)
class RelayMergeKernelsPass(XRelayPass):
    """Replaces kernels that differ in extents alone by one kernel with named dimensions.

    Before → after, with `least=2`:

    ```
    %y = func.call @softmax(%a) : (tensor<8xf32>) …      %y = relay.call @softmax<d0 = 8>(%a) : (tensor<8xf32>) …
    %z = func.call @softmax_1(%b) : (tensor<9xf32>) …    %z = relay.call @softmax<d0 = 9>(%b) : (tensor<9xf32>) …
    func.func private @softmax(%p: tensor<8xf32>) …      func.func private @softmax(%p: tensor<?xf32,
    func.func private @softmax_1(%p: tensor<9xf32>) …        #relay.dims<d0>>) …
    ```

    To compile a kernel takes 20 to 60 ms. A model with a softmax of each of 160 lengths takes 2 s to compile with the
    pass, and 16 s without it. A softmax of 16 rows of 45 takes 5 µs instead of 4 µs. Extents that are the same in all
    kernels stay numbers, and so does 1.

    A kernel is only merged with kernels that have equal extents at the same places, and if:

    - It is small. Large kernels lose a few percent of their speed, and cannot compute in place.
    - Its ops are elementwise, broadcasts, reductions, softmax or pools. Products and convolutions need known extents to
      choose tiles, and kernels that only move elements may become views.
    - At least `least` kernels are equal but for extents. Fewer save less time than a user notices.
    - The types of the results follow from the named dimensions without further requirements.

    A module with named dimensions stays unchanged, because `loop-merge-kernels` merges its kernels.
    """

    name = "relay-merge-kernels"
    numerics = EXACT

    least: int = field(default=32, metadata={"help": "the smallest number of kernels that are merged"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Merges the kernels of the module in place."""
        groups = [group for group in _groups(op) if len(group) >= self.least]
        if not groups or dim_names_in(op):
            return
        strategies.load()
        remarks, calls = Remarks(self.name), calls_by_callee(op)
        for group in groups:
            _merge(group, calls, remarks)
        report(remarks.all)


@dataclass(frozen=True)
class _Kernel:
    """A kernel, and its distinct extents other than 1 in the order of their first occurrence."""

    function: FuncOp
    extents: Sequence[int]


def _groups(module: ModuleOp) -> list[list[_Kernel]]:
    """Returns the kernels that may be merged, those that differ in extents alone together."""
    keys, groups = OpKeys(), dict[Hashable, list[_Kernel]]()
    for function in module.ops:
        if isinstance(function, FuncOp) and PRIMITIVE in function.attributes and _may_merge(function):
            extents: dict[int, int] = {}
            key = tuple(_key(function, keys, extents))
            groups.setdefault(key, []).append(_Kernel(function, tuple(extents)))
    return list(groups.values())


def _may_merge(function: FuncOp) -> bool:
    """Whether a kernel is small, and all of its ops keep their speed if extents are named."""
    if RESHAPE_ONLY in function.attributes or len(function.body.blocks) != 1:
        return False
    types = (*function.function_type.inputs, *function.function_type.outputs)
    if not all(_is_static(type) for type in types):
        return False
    if sum(prod(type.get_shape()) for type in types if isinstance(type, TensorType)) > MAX_ELEMENTS:
        return False
    *ops, last = function.body.block.ops
    return isinstance(last, ReturnOp) and all(map(_keeps_speed, ops))


def _keeps_speed(op: Operation) -> bool:
    """Whether an op is as fast with named dimensions: it has no tiles to choose, and is no view."""
    if not isinstance(op, RelayOp) or not _is_static(op.results[0].type):
        return isinstance(op, ConstantOp)
    if op.fusion_pattern is OpPatternKind.OUT_ELEM_WISE_FUSABLE:
        return len(op.operands) == 1  # an op of two tensors is a product
    return op.fusion_pattern in (OpPatternKind.ELEM_WISE, OpPatternKind.BROADCAST, OpPatternKind.COMM_REDUCE)


def _is_static(type: Attribute) -> TypeGuard[AnyTensorType]:
    return isinstance(type, TensorType) and type.has_static_shape()


def _key(function: FuncOp, keys: OpKeys, extents: dict[int, int]) -> Iterator[Hashable]:
    """Yields the parts of a key that kernels share if they differ in extents alone; numbers the extents."""
    values: dict[SSAValue, int] = {}
    yield keys.of_attributes(function.attributes)
    for argument in function.body.block.args:
        yield _type_key(argument.type, extents)
        values[argument] = len(values)
    for op in function.body.block.ops:
        yield op.name, keys.of_attributes(op.properties), keys.of_attributes(op.attributes)
        yield tuple(values[operand] for operand in op.operands)
        for result in op.results:
            yield _type_key(result.type, extents)
            values[result] = len(values)


def _type_key(type: Attribute, extents: dict[int, int]) -> Hashable:
    if not isinstance(type, TensorType):
        return type
    # Numbers are in a tuple, so that none equals the extent 1.
    shape = (1 if extent == 1 else (extents.setdefault(extent, len(extents)),) for extent in type.get_shape())
    return type.element_type, *shape


def _merge(group: Sequence[_Kernel], calls: Mapping[str, list[CallOp]], remarks: Remarks) -> None:
    """Names the dimensions of the first kernel, and replaces the calls of all kernels by calls of it."""
    first = group[0].function
    columns = list(zip(*(kernel.extents for kernel in group), strict=True))
    dims: list[Dim] = [
        column[0] if len(set(column)) == 1 else symbol(f"d{number}") for number, column in enumerate(columns)
    ]
    merged = first.clone()
    reason = _open(merged, dict(zip(group[0].extents, dims, strict=True)))
    if reason is not None:
        remarks.refused(first, f"{len(group)} kernels differ in extents alone, but {reason}")
        return
    Rewriter.replace_op(first, merged, [])
    names = set(parameter_names(merged.function_type))
    sizes = {str(dim): column for dim, column in zip(dims, columns, strict=True) if str(dim) in names}
    # The schedule is chosen for the greatest size, which takes most of the time.
    add_size_hints(merged, {name: (min(column), max(column), max(column)) for name, column in sizes.items()})
    for number, kernel in enumerate(group):
        bindings = {name: column[number] for name, column in sizes.items()}
        for call in calls.get(kernel.function.sym_name.data, ()):
            new = NamedCallOp(merged.sym_name.data, bindings, call.operands, call.result_types)
            new.attributes, new.location = call.attributes, call.location
            Rewriter.replace_op(call, new)
        if kernel.function is not first:
            Rewriter.erase_op(kernel.function)
    remarks.applied(merged, f"replaces {len(group)} kernels that differ in extents alone")


def _open(kernel: FuncOp, dims: Mapping[int, Dim]) -> str | None:
    """Replaces extents of a kernel by dimensions; returns a reason if its types or its lowering forbid that."""
    block = kernel.body.block
    types: dict[SSAValue, Attribute] = {argument: _named(argument.type, dims) for argument in block.args}
    try:
        for op in block.ops:
            if isinstance(op, ConstantOp):
                types[op.result] = op.result.type
            elif isinstance(op, RelayOp):
                inference = op.inference([types[operand] for operand in op.operands])
                if inference.requirements or inference.extents:
                    return f"{op.name} would have to check extents at run time"
                types[op.results[0]] = inference.type
        retype(types)
        results = [] if block.last_op is None else list(block.last_op.operand_types)
        kernel.function_type = function_type(list(block.arg_types), results)
        convert_kernel(kernel.clone())
    except XRelayError as error:
        return error.message
    return None


def _named(type: Attribute, dims: Mapping[int, Dim]) -> Attribute:
    if not isinstance(type, TensorType):
        return type
    return tensor_type([dims.get(extent, extent) for extent in type.get_shape()], type.element_type)
