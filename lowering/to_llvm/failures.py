"""Failures of native code: the status that a function returns, and the values that it stores for the message.

**Status** (`runtime/abi.py`). A kernel is compiled independently of its callers, so the status of its failure is the
reason alone. The graph function that calls it adds the kernel's number in the module. Graph functions belong to one
module, and add their own number.

Model nodes with equal kernels share one kernel. A call of a shared kernel for other nodes has its own number, after
those of the functions, so that an error names the node that failed.

**Values.** A failing check of two extents stores both in the context if one of them is computed during the run:

    cf.assert %holds, "k == m" {relay.requires = #relay.requirements<k == m>}        with `%holds` = `icmp eq %k, %m`

An assertion whose message has placeholders, such as `"the place is {lhs}"`, stores its operands too. Extents that
follow from named dimensions are not stored: the caller of the model has their sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from xdsl.dialects import cf, func, llvm
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import BlockInsertPoint, Rewriter

from xrelay.dialects.shared.attribute_names import LOOP_KERNEL, MAY_FAIL, PART_OF_KERNEL, REQUIRES, SOURCES
from xrelay.dialects.shared.is_attribute import is_attribute
from xrelay.dialects.shared.locations import sources_of
from xrelay.dialects.shared.op_lists import ops_of
from xrelay.dialects.shared.requirements import RequirementsAttr
from xrelay.index_algebra.requirement import LHS, RHS, AtLeast, Broadcasts, Equal, Requirement
from xrelay.lowering.loop_to_scf.checked_index import RECORD_INDEX
from xrelay.lowering.loop_to_scf.graph_function import CANCELLED
from xrelay.lowering.to_llvm.convert_scf_parallel_to_calls import PARALLEL_FOR
from xrelay.lowering.to_llvm.expansions.inlined_ops import is_always_inline
from xrelay.lowering.to_llvm.ops import constant

UNSPECIFIED = 1
CHECK = 6
"""The reason of an assertion in a function with named dimensions."""
OUT_OF_MEMORY = 5
REASONS: dict[str, int] = {
    "index out of range": 2,
    "shape mismatch": 3,
    "division by zero": 4,
    "out of memory": OUT_OF_MEMORY,
    CANCELLED: 7,
}
"""Maps the beginning of an assertion's message to the reason in the status.

Other messages have the reason `UNSPECIFIED`.
"""


def status_of(message: str, kernel: int | None) -> int:
    """Returns the status of a failed assertion with this message, in the kernel with this number."""
    reason = next((number for text, number in REASONS.items() if message.startswith(text)), UNSPECIFIED)
    return reason if kernel is None else reason | kernel_bits(kernel)


def kernel_bits(kernel: int) -> int:
    """Returns the bits of a status that hold the kernel's number."""
    return (kernel + 1) << 8


def check_status(number: int) -> int:
    """Returns the status of a failure of check `number` in `xrelay.checks`."""
    return CHECK | (number + 1) << 8


# --- numbers of kernels

_CANNOT_FAIL = frozenset({RECORD_INDEX, PARALLEL_FOR})
"""Functions whose calls return only the status of other parts of the calling kernel."""


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


# --- compared extents

_MARK: Final = 1
"""The position of the mark in the context, in words of 8 bytes; an index or nothing, and two numbers follow."""
_EXTENTS: Final = 3
"""The mark of two extents (`ContextWord` in `runtime/abi.py`)."""
_PREDICATES: Final[Mapping[type[Requirement], llvm.ICmpPredicateFlag]] = {
    AtLeast: llvm.ICmpPredicateFlag.SGE,
    Broadcasts: llvm.ICmpPredicateFlag.EQ,
    Equal: llvm.ICmpPredicateFlag.EQ,
}


def computed_extents(op: cf.AssertOp, names: Collection[str]) -> tuple[SSAValue, SSAValue] | None:
    """Returns the compared values if the message has placeholders, or the requirement has names not in `names`."""
    requires, comparison = op.attributes.get(REQUIRES), _first_comparison(op.arg)
    if not isinstance(comparison, llvm.ICmpOp) or comparison.lhs.type != i64:
        return None
    if LHS in op.msg.data or RHS in op.msg.data:
        return comparison.lhs, comparison.rhs
    if not isinstance(requires, RequirementsAttr) or len(requires.data) != 1:
        return None
    (requirement,) = requires.data
    if requirement.names <= set(names):
        return None
    wanted = _PREDICATES.get(type(requirement))
    found = llvm.ICmpPredicateFlag.from_int(comparison.predicate.value.data)
    return (comparison.lhs, comparison.rhs) if found is wanted else None


def _first_comparison(value: SSAValue) -> Operation | Block:
    """Returns the definition of `value`, or of the first operand of an `or`: broadcast extents are equal, or 1."""
    owner = value.owner
    while isinstance(owner, llvm.OrOp):
        owner = owner.lhs.owner
    return owner


def record_extents(context: SSAValue, extents: tuple[SSAValue, SSAValue], exit: Block) -> Block:
    """Returns a block before `exit` that stores the values and passes the status on."""
    block = Block(arg_types=[i32])
    block.args[0].name_hint = "status"
    mark = constant(_EXTENTS, i64)
    ops: list[Operation] = [mark]
    for place, value in ((_MARK, mark.result), (_MARK + 2, extents[0]), (_MARK + 3, extents[1])):
        pointer = llvm.GEPOp(context, [place], i64, inbounds=True)
        ops += [pointer, llvm.StoreOp(value, pointer.result)]
    block.add_ops([*ops, llvm.BrOp(exit, block.args[0])])
    Rewriter.insert_block(block, BlockInsertPoint.before(exit))
    return block
