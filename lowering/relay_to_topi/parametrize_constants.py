"""`relay-parametrize-constants`: replaces kernels that differ in numbers alone by one kernel with arguments."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from xrelay.dialects.relay.ops.tensor.arithmetic import AddOp, MultiplyOp, SubtractOp
from xrelay.dialects.relay.structure.call import AnyCall, callee_name, is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.shared.attribute_names import PRIMITIVE
from xrelay.dialects.shared.op_lists import all_ops, ops_at
from xrelay.passes.fusion.outline_fused import is_kernel_constant
from xrelay.passes.graph.op_keys import OpKeys
from xrelay.passes.graph.remarks import Remarks, report
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.loop.signature import insert_arguments
from xrelay.passes.relay.dead_code_elimination import PRIVATE

_OF_ANY_NUMBER: Final = frozenset({AddOp, SubtractOp, MultiplyOp})
"""The ops that are as fast for a number that is only known at run time."""


@dataclass(frozen=True)
class RelayParametrizeConstantsPass(XRelayPass):
    """Replaces kernels that differ in numbers alone by one kernel that takes these numbers as arguments.

    Before → after:

    ```
    func.call @scale(%a) : …                        %0 = relay.constant dense<2.0> : tensor<f32>
    func.call @scale_1(%b) : …                      %1 = relay.constant dense<3.0> : tensor<f32>
    func.func private @scale(%p: T) -> T            func.call @scale(%a, %0) : …
      %c = relay.constant dense<2.0> : tensor<f32>  func.call @scale(%b, %1) : …
      relay.multiply(%p, %c)                        func.func private @scale(%p: T, %c: tensor<f32>) -> T
    func.func private @scale_1(%p: T) -> T            relay.multiply(%p, %c)
      %c = relay.constant dense<3.0> : tensor<f32>
      relay.multiply(%p, %c)
    ```

    To compile a kernel takes 20 to 60 ms. The layers of a network that was quantised when it was exported differ in
    scales and zero points, which are numbers in its kernels.

    A number stays a constant if it is the same in all kernels, or if an op other than a sum, a difference or a product
    reads it, which may be faster for a known number: a quotient by a constant becomes a product in `math-expand`.
    Numbers that are equal in each kernel become one argument.
    """

    name = "relay-parametrize-constants"
    numerics = EXACT

    least: int = field(default=2, metadata={"help": "the smallest number of kernels that are replaced"})

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Replaces the kernels of the module in place."""
        groups = [group for group in _groups(op) if len(group) >= self.least]
        if not groups:
            return
        remarks, calls = Remarks(self.name), _Calls(op)
        for group in groups:
            _replace(group, calls)
            remarks.applied(group[0].function, f"replaces {len(group)} kernels that differ in numbers alone")
        report(remarks.all)


@dataclass(frozen=True)
class _Kernel:
    """A kernel, and its constants that may become arguments."""

    function: FuncOp
    constants: Sequence[ConstantOp]


def _groups(module: ModuleOp) -> list[list[_Kernel]]:
    """Returns the kernels with constants that may become arguments, those that differ in these alone together."""
    keys, groups = OpKeys(), dict[Hashable, list[_Kernel]]()
    for function in module.ops:
        if isinstance(function, FuncOp) and _is_private_kernel(function):
            block = function.body.block
            constants = [op for op in ops_at(block) if type(op) is ConstantOp and _may_be_argument(op)]
            if constants:
                key = (keys.of_attributes(function.attributes), keys.of_block(block, opened=set(constants)))
                groups.setdefault(key, []).append(_Kernel(function, constants))
    return list(groups.values())


def _is_private_kernel(function: FuncOp) -> bool:
    is_kernel = PRIMITIVE in function.attributes and len(function.body.blocks) == 1
    return is_kernel and function.sym_visibility == PRIVATE


def _may_be_argument(constant: ConstantOp) -> bool:
    """Whether the kernel is as fast if the number is only known at run time."""
    return is_kernel_constant(constant) and all(type(use.operation) in _OF_ANY_NUMBER for use in constant.result.uses)


class _Calls:
    """The calls of kernels, and the constants that are their new arguments."""

    def __init__(self, module: ModuleOp):
        self._calls = defaultdict[str, list[tuple[AnyCall, FuncOp]]](list)
        self._constants: dict[tuple[FuncOp, Attribute], SSAValue] = {}
        for function in ops_at(module.body.block):
            if isinstance(function, FuncOp) and PRIMITIVE not in function.attributes:
                for op in all_ops(function):
                    if is_call(op):
                        self._calls[callee_name(op)].append((op, function))

    def redirect(self, kernel: FuncOp, to: FuncOp, constants: Sequence[ConstantOp]) -> None:
        """Replaces the calls of a kernel by calls of another one with these numbers as its last arguments."""
        for call, function in self._calls[kernel.sym_name.data]:
            call.callee = SymbolRefAttr(to.sym_name)
            call.operands = [*call.operands, *(self._outside(constant, function) for constant in constants)]

    def _outside(self, constant: ConstantOp, function: FuncOp) -> SSAValue:
        """Returns the number as a constant at the start of a function."""
        known = self._constants.get((function, constant.value))
        if known is None:
            made = ConstantOp.create(properties={"value": constant.value}, result_types=[constant.result.type])
            made.location = constant.location
            Rewriter.insert_op(made, InsertPoint.at_start(function.body.block))
            known = self._constants[function, constant.value] = made.result
        return known


def _replace(group: Sequence[_Kernel], calls: _Calls) -> None:
    """Replaces the kernels of a group by the first, in which the numbers that vary are arguments."""
    first = group[0]
    columns = [tuple([op.value for op in column]) for column in zip(*(each.constants for each in group), strict=True)]
    # A place of each argument's numbers among the constants.
    places = {column: place for place, column in enumerate(columns) if len(set(column)) > 1}
    for kernel in group:
        calls.redirect(kernel.function, first.function, [kernel.constants[place] for place in places.values()])
        if kernel is not first:
            Rewriter.erase_op(kernel.function)
    given = [first.constants[place] for place in places.values()]
    types, names = [op.result.type for op in given], [op.result.name_hint for op in given]
    arguments = insert_arguments(first.function, len(first.function.body.block.args), types, names)
    by_column = dict(zip(places, arguments, strict=True))
    for constant, column in zip(first.constants, columns, strict=True):
        if column in by_column:
            Rewriter.replace_op(constant, [], [by_column[column]])
