"""Terms of IR values for pattern matching, and structural equality of values.

The parts of a branch are the values that its regions yield, those of a closure its arguments and the value that its
body yields. The result of a `relay.let` is a variable. Only wildcards match groups and loops.
"""

from __future__ import annotations

from typing import TypeAlias, cast

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.attribute_values import to_python
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.operator_value import Op
from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.relay.structure.yields import yielded
from xrelay.dialects.shared.attribute_names import BINDS, REQUIRES, VALUE_NAME
from xrelay.dialects.shared.op_lists import captures_in
from xrelay.dialects.shared.types import is_complete
from xrelay.passes.patterns.graph import NodeGraph
from xrelay.passes.patterns.matcher import Matcher
from xrelay.passes.patterns.nodes import DFPattern, NodeKind, add_node_kind
from xrelay.passes.patterns.terms import (
    MISSING,
    CallTerm,
    ConstantTerm,
    FieldTerm,
    FunctionTerm,
    GlobalTerm,
    IfTerm,
    OperatorTerm,
    OtherTerm,
    Term,
    TupleTerm,
    VarTerm,
)

IrNode: TypeAlias = "SSAValue | Op | str"
"""A value, an operator, or the name of a function of the module."""


class IrTerms:
    """The cached terms of values. The IR must not change while they are used."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, Term[IrNode]] = {}

    def of(self, node: IrNode) -> Term[IrNode]:
        """Returns the term of a value, operator or name."""
        if isinstance(node, Op):
            return OperatorTerm(node)
        if isinstance(node, str):
            return GlobalTerm(node)
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = _result_term(node) if isinstance(node, OpResult) else VarTerm(_name_of(node))
        return known

    def attribute(self, node: IrNode, name: str) -> object:
        """Returns a property of an op, the fusion pattern of an operator, or a discardable attribute of another op."""
        if isinstance(node, Op):
            return operator_attribute(node, name)
        return MISSING if isinstance(node, str) or not isinstance(node, OpResult) else op_attribute(node.op, name)

    def type(self, node: IrNode) -> Attribute | None:
        """Returns the type of a value if it is complete, else None."""
        return node.type if isinstance(node, SSAValue) and is_complete(node.type) else None

    def is_same(self, node: IrNode, expr: object) -> bool:
        """Returns whether a value has the same structure as another one, or an operator is that operator."""
        return is_same(node, expr)


def operator_attribute(op: Op, name: str) -> object:
    """Returns the attribute that Relay registers for an operator: its fusion pattern, `TOpPattern`."""
    return int(op.kind.PATTERN) if name == "TOpPattern" else MISSING


def op_attribute(op: Operation, name: str) -> object:
    """Returns a property of an operator call, None if unset, or a discardable attribute of any op."""
    if isinstance(op, RelayOp) and name in op.get_irdl_definition().properties:
        return to_python(op.properties.get(name))
    found = op.attributes.get(name)
    return MISSING if found is None else to_python(found)


def _result_term(value: OpResult) -> Term[IrNode]:
    match value.op:
        case ConstantOp():
            return ConstantTerm()
        case TupleOp() as op:
            return TupleTerm(tuple(op.operands))
        case TupleGetItemOp() as op:
            return FieldTerm(op.data, op.index.value.data)
        case LetOp() as op:
            return VarTerm(op.variable.data, (op.value,))
        case RelayOp() as op:
            return CallTerm(Op.of(type(op)), tuple(op.operands))
        case CallOp() | NamedCallOp() as op:
            return CallTerm(callee_name(op), tuple(op.operands))
        case InvokeOp() as op:
            return CallTerm(op.callee, tuple(op.arguments))
        case FnOp() as op:
            itself = op.self_argument
            return FunctionTerm(op.parameters, yielded(op.body), () if itself is None else (itself,))
        case IfOp() as op:
            return IfTerm(op.condition, yielded(op.true_region), yielded(op.false_region))
        case op:
            return OtherTerm(op.name.removeprefix("relay."), tuple(dict.fromkeys([*op.operands, *captures_in(op)[op]])))


def _name_of(value: SSAValue) -> str:
    """Returns the user-visible name of an argument: that of the function's parameter, else its name hint."""
    block = value.owner
    given = getattr(block, "name", None)
    if isinstance(given, str):
        return given
    function = block.parent_op() if isinstance(block, Block) else None
    if isinstance(function, FuncOp) and function.arg_attrs is not None and isinstance(value, BlockArgument):
        name = function.arg_attrs.data[value.index].data.get(VALUE_NAME)
        if isinstance(name, StringAttr):
            return name.data
    return value.name_hint if value.name_hint is not None else ""


def is_same(node: object, expr: object) -> bool:
    """Returns whether `node` is the same operator as `expr`, or a value with the same structure."""
    if isinstance(expr, Op) or isinstance(node, Op):
        return node == expr
    left, right = _value(node), _value(expr)
    return node == expr if left is None or right is None else same_program(left, right)


def _value(node: object) -> SSAValue | None:
    """Returns a value, or the value of a handle such as an expression."""
    return cast("SSAValue | None", node if isinstance(node, SSAValue) else getattr(node, "ssa_value", None))


def same_program(left: SSAValue, right: SSAValue) -> bool:
    """Returns whether both values come from equal ops on equal operands, regardless of types and names of values.

    Variables are equal if they are the same, or bound at the same position. Attributes that inference records are
    ignored. Iterative; shared subgraphs are skipped, and each pair is compared once.
    """
    pending, seen = [(left, right)], set[tuple[SSAValue, SSAValue]]()
    bound = dict[SSAValue, SSAValue]()
    while pending:
        pair = pending.pop()
        one, other = pair
        if bound.get(one, one) is other or pair in seen:
            continue
        seen.add(pair)
        if not isinstance(one, OpResult) or not isinstance(other, OpResult) or one.index != other.index:
            return False
        if not _same_op(one.op, other.op, bound):
            return False
        pending.extend(zip(reversed(one.op.operands), reversed(other.op.operands), strict=True))
        for region, copy in zip(one.op.regions, other.op.regions, strict=True):
            ends = region.block.last_op, copy.block.last_op
            if ends[0] is not None and ends[1] is not None:
                pending.extend(zip(ends[0].operands, ends[1].operands, strict=True))
    return True


def _same_op(one: Operation, other: Operation, bound: dict[SSAValue, SSAValue]) -> bool:
    """Returns whether both ops are equal apart from operands; records the correspondence of their block arguments."""
    if type(one) is not type(other) or len(one.operands) != len(other.operands):
        return False
    if isinstance(one, ConstantOp) and isinstance(other, ConstantOp):
        return one.result.type == other.result.type and one.array.tobytes() == other.array.tobytes()
    if one.properties != other.properties or _attributes(one) != _attributes(other):
        return False
    for region, copy in zip(one.regions, other.regions, strict=True):
        if len(region.blocks) != 1 or len(copy.blocks) != 1 or len(region.block.args) != len(copy.block.args):
            return False
        bound.update(zip(region.block.args, copy.block.args, strict=True))
    return True


def _attributes(op: Operation) -> dict[str, Attribute]:
    return {name: value for name, value in op.attributes.items() if name not in (REQUIRES, BINDS)}


def _matches(pattern: DFPattern, node: object) -> bool:
    """Returns whether `pattern` matches a value or an operator; ignores users outside of the value's graph."""
    found = cast(IrNode, node)
    return Matcher(NodeGraph[IrNode](IrTerms(), [found])).match(pattern, found)


for _kind in (SSAValue, Op):
    add_node_kind(_kind, NodeKind(_matches, None))
