"""Checks that xDSL's verifiers omit: valid ops that their own syntax cannot represent.

Such an op comes from the generic form or from an incorrect pass. Its printed form would not parse, or parse as another
op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Final, TypeAlias

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, FunctionType, IntegerAttr, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.shared.is_attribute import is_attribute

_INDEX_OPERAND: Final = -(2**31)
"""The number that marks an index that is an operand."""
_Check: TypeAlias = Callable[[Operation], None]


def is_upstream(kind: type[Operation | Attribute]) -> bool:
    """Whether a class is in xDSL's own dialects, whose parsers, verifiers and printers assume well-formed input."""
    return kind.__module__.startswith("xdsl.dialects.")


def check_upstream(op: Operation) -> None:
    """Raises `VerifyException` for a valid op of xDSL's dialects that its own syntax cannot represent."""
    check = _CHECKS.get(op.name)
    if check is not None:
        check(op)


def _check_number(name: str, count: int, op: Operation) -> None:
    """Checks that a property that encodes an enum is one of `count` numbers."""
    number = op.properties.get(name)
    if number is None:
        return
    if not isinstance(number, IntegerAttr) or number.type != i64 or not 0 <= number.value.data < count:
        raise VerifyException(f"{op.name}: {name} must be from 0 to {count - 1} : i64, found {number}")


def _check_while(op: Operation) -> None:
    before, after = (region.first_block for region in op.regions)
    if before is not None:
        _check_types(op, "the arguments of the first region", before.arg_types, op.operand_types)
    if after is not None:
        _check_types(op, "the arguments of the second region", after.arg_types, op.result_types)
    _check_end(op, before, "scf.condition", 1, op.result_types)
    _check_end(op, after, "scf.yield", 0, op.operand_types)


def _check_for(op: Operation) -> None:
    """Checks that the results have the types of the carried values, which follow bounds and step."""
    _check_types(op, "its results", op.result_types, op.operand_types[3:])


def _check_branches(op: Operation) -> None:
    """Checks that each region yields the types of the results; an empty region yields no values."""
    for region in op.regions:
        if region.first_block is None:
            _check_types(op, "the results of a missing region", (), op.result_types)
        _check_end(op, region.first_block, "scf.yield", 0, op.result_types)


def _check_end(op: Operation, block: Block | None, name: str, first: int, types: Sequence[Attribute]) -> None:
    """Checks the types of the operands of a block's terminator, if it has this name."""
    if block is not None and block.last_op is not None and block.last_op.name == name:
        _check_types(op, f"the operands of {name} in a region", block.last_op.operand_types[first:], types)


def _check_jump(op: Operation) -> None:
    """Checks that the operands for each successor have the types of its block arguments."""
    groups: list[Sequence[SSAValue]] = [op.operands]
    if (sizes := _numbers(op, "operandSegmentSizes")) is not None:
        groups = _split(op.operands, sizes)[1:]
    if (sizes := _numbers(op, "case_operand_segments")) is not None:
        groups = [groups[0], *_split(groups[1], sizes)]
    if len(groups) != len(op.successors):
        raise VerifyException(f"{op.name}: operands for {len(groups)} blocks, but {len(op.successors)} successors")
    for group, block in zip(groups, op.successors, strict=True):
        _check_types(op, "the operands for a block", [value.type for value in group], block.arg_types)


def _numbers(op: Operation, name: str) -> tuple[int, ...] | None:
    """The integers in a property; `None` if it is not an array of integers."""
    found = op.properties.get(name)
    return tuple(found.get_values()) if is_attribute(found, DenseArrayBase[IntegerType]) else None


def _split(values: Sequence[SSAValue], sizes: Sequence[int]) -> list[Sequence[SSAValue]]:
    """Splits values into groups of these sizes."""
    ends = list(accumulate(sizes, initial=0))
    return [values[start:end] for start, end in pairwise(ends)]


def _check_function(op: Operation) -> None:
    """Checks that there are as many attribute dictionaries as arguments and results."""
    type_ = op.properties["function_type"]
    if isinstance(type_, FunctionType):
        _check_count(op, "arg_attrs", len(type_.inputs))
        _check_count(op, "res_attrs", len(type_.outputs))


def _check_llvm_function(op: Operation) -> None:
    from xdsl.dialects.llvm import LLVMFunctionType

    type_ = op.properties["function_type"]
    assert isinstance(type_, LLVMFunctionType)
    _check_number("visibility_", 3, op)
    _check_number("unnamed_addr", 3, op)
    _check_count(op, "arg_attrs", len(type_.inputs))
    if (entry := op.regions[0].first_block) is not None:
        _check_types(op, "the arguments of its body", entry.arg_types, type_.inputs.data)


def _check_address(op: Operation) -> None:
    """Checks that each dynamic index has an operand."""
    count = (_numbers(op, "rawConstantIndices") or ()).count(_INDEX_OPERAND)
    if count != len(op.operands) - 1:
        raise VerifyException(f"{op.name}: {count} index operands are expected, found {len(op.operands) - 1}")


def _check_extract(op: Operation) -> None:
    """Checks that the result has the type of the extracted element."""
    _check_types(op, "its result", op.result_types, [_part_type(op)])


def _check_insert(op: Operation) -> None:
    """Checks that the value has the type of the replaced element, and the result the type of the aggregate."""
    _check_types(op, "its value", op.operand_types[1:], [_part_type(op)])
    _check_types(op, "its result", op.result_types, op.operand_types[:1])


def _part_type(op: Operation) -> Attribute:
    """The type of the element of an aggregate that an op refers to."""
    from xdsl.dialects.llvm import LLVMArrayType, LLVMStructType

    type_ = op.operands[0].type
    for index in _numbers(op, "position") or ():
        parts: Sequence[Attribute] = type_.types.data if isinstance(type_, LLVMStructType) else ()
        if isinstance(type_, LLVMArrayType) and 0 <= index < type_.size.data:
            type_ = type_.type
        elif 0 <= index < len(parts):
            type_ = parts[index]
        else:
            raise VerifyException(f"{op.name}: {type_} has no element {index}")
    return type_


def _check_count(op: Operation, name: str, count: int) -> None:
    found = op.properties.get(name)
    if isinstance(found, ArrayAttr) and len(found) != count:
        raise VerifyException(f"{op.name}: {name} has {len(found)} entries, expected {count}")


def _check_types(op: Operation, what: str, found: Sequence[Attribute], expected: Sequence[Attribute]) -> None:
    if tuple(found) != tuple(expected):
        raise VerifyException(f"{op.name}: {what} must be ({_list(expected)}), found ({_list(found)})")


def _list(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))


_CHECKS: Final[Mapping[str, _Check]] = {
    "cf.br": _check_jump,
    "cf.cond_br": _check_jump,
    "cf.switch": _check_jump,
    "arith.cmpf": partial(_check_number, "predicate", 16),
    "arith.cmpi": partial(_check_number, "predicate", 10),
    "llvm.fcmp": partial(_check_number, "predicate", 16),
    "llvm.icmp": partial(_check_number, "predicate", 10),
    "llvm.br": _check_jump,
    "llvm.cond_br": _check_jump,
    "llvm.extractvalue": _check_extract,
    "llvm.getelementptr": _check_address,
    "llvm.insertvalue": _check_insert,
    "llvm.func": _check_llvm_function,
    "func.func": _check_function,
    "scf.for": _check_for,
    "scf.if": _check_branches,
    "scf.index_switch": _check_branches,
    "scf.while": _check_while,
}
"""The check of each op by name; dialects are imported when a text first uses them."""
