"""The numbers of kernels in a status, and the functions that write them.

A kernel is compiled independently of its callers: the status of its failure is the reason alone, whatever its symbol
and its module. The graph function that calls it adds the kernel's number in this module. Functions between kernels
belong to one module, and write their own number.

Model nodes with equal kernels share one kernel. A call of a shared kernel for nodes other than those of the kernel has
a number of its own, after those of the functions, so that an error names the node that failed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import cf, func
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute

from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, MAY_FAIL, PART_OF_KERNEL, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import sources_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.lowering.loop_to_scf.checked_index import NOTE_INDEX
from xrelay.lowering.to_llvm.always_inline import is_always_inline
from xrelay.lowering.to_llvm.convert_scf_parallel_to_calls import PARALLEL_FOR

_CANNOT_FAIL = frozenset({NOTE_INDEX, PARALLEL_FOR})
"""Functions whose calls return no status other than that of the calling kernel's own parts."""


Row: TypeAlias = tuple[str, Attribute | None]
"""A row of a table of kernels: a symbol, and the names of the nodes that it computes."""


@dataclass(frozen=True)
class KernelNumbers:
    """The numbers of a module's kernels: those that functions write, by symbol, and those that callers add, by call."""

    written: Mapping[str, int]
    added: Mapping[func.CallOp, int]
    """The numbers of the calls of kernels that may fail."""
    kernels: Sequence[Row]
    """The kernels, in the order of their numbers."""
    calls: Sequence[Row]
    """The calls with numbers of their own, which follow those of the kernels."""


def numbered_functions(module: ModuleOp) -> list[func.FuncOp]:
    """Returns the private functions with a body, except parts of others, and the declared kernels, in order."""
    return [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and (not op.is_declaration or LOOP_KERNEL in op.attributes)
        and op.sym_visibility is not None
        and op.sym_visibility.data == "private"
        and PART_OF_KERNEL not in op.attributes
        and not is_always_inline(op)
    ]


def kernel_numbers(module: ModuleOp) -> KernelNumbers:
    """Returns the numbers of a module before `convert-func-to-llvm`."""
    kernels = [(function.sym_name.data, function.attributes.get(SOURCES)) for function in numbered_functions(module)]
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    alone = {kernel_around(op) for op in functions if LOOP_KERNEL in op.attributes}
    failing = alone & kernels_that_may_fail(module)
    callers = (op for op in functions if kernel_around(op) not in alone)
    found = [call for op in callers for call in ops_of(op, func.CallOp) if call.callee.string_value() in failing]
    added, calls = _numbers_of_calls(found, kernels)
    written = {name: number for number, (name, _) in enumerate(kernels) if name not in alone}
    return KernelNumbers(written, added, kernels, calls)


def _numbers_of_calls(calls: Iterable[func.CallOp], kernels: Sequence[Row]) -> tuple[dict[func.CallOp, int], list[Row]]:
    """Returns the number of each call, and the rows of calls for nodes other than those of their kernel."""
    rows = {name: (number, _names(sources)) for number, (name, sources) in enumerate(kernels)}
    added: dict[func.CallOp, int] = {}
    own: dict[Row, int] = {}
    for call in calls:
        name, sources = call.callee.string_value(), sources_of(call)
        number, names = rows[name]
        if sources is not None and _names(sources) != names:
            number = own.setdefault((name, sources), len(kernels) + len(own))
        added[call] = number
    return added, list(own)


def _names(sources: Attribute | None) -> frozenset[Attribute]:
    return frozenset(sources.data) if is_attribute(sources, ArrayAttr[StringAttr]) else frozenset()


def kernel_around(function: func.FuncOp) -> str:
    """Returns the symbol of the function that `function` is a part of, or its own."""
    part_of = function.attributes.get(PART_OF_KERNEL)
    return part_of.data if isinstance(part_of, StringAttr) else function.sym_name.data


def kernels_that_may_fail(module: ModuleOp) -> set[str]:
    """Returns the functions that may return a status other than 0: they, or parts of them, assert or call others."""
    functions = [op for op in module.ops if isinstance(op, func.FuncOp)]
    harmless = {op.sym_name.data for op in functions if is_always_inline(op)} | _CANNOT_FAIL
    groups = {op.sym_name.data: kernel_around(op) for op in functions if not op.is_declaration}
    return {kernel_around(op) for op in functions if _may_fail(op, groups, harmless)}


def _may_fail(function: func.FuncOp, groups: Mapping[str, str], harmless: Collection[str]) -> bool:
    """Whether a function asserts, or calls a function that is neither `harmless` nor of the same kernel.

    `groups` maps functions with a body to their kernels.
    """
    if function.is_declaration:
        return MAY_FAIL in function.attributes
    own = groups[function.sym_name.data]
    for op in ops_of(function, cf.AssertOp, func.CallOp):
        if isinstance(op, cf.AssertOp):
            return True
        callee = op.callee.string_value()
        if groups.get(callee) != own and callee not in harmless:
            return True
    return False
