"""Expressions as results of ops that are in no block: their order and their free variables.

A variable is the argument of a block of its own. A let with its body is an op of the builder, which copying replaces by
a `relay.let` and the ops of the body.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar
from weakref import WeakKeyDictionary

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def

from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.types import IncompleteType

OperationT = TypeVar("OperationT", bound=Operation)


class VarBlock(Block):
    """The block, with one argument, of a variable that no function binds yet."""

    name: str
    identity: object
    """Equal for variables that represent the same parameter of a function of a module."""

    def __init__(self, name: str, type: Attribute, identity: object | None = None):
        super().__init__(arg_types=[type])
        self.name, self.identity = name, object() if identity is None else identity
        set_name(self.args[0], name)


@irdl_op_definition
class LetScopeOp(IRDLOperation):
    """`let variable = value; body`, whose result is that of the body. Not part of any module."""

    name = "relay.builder.let_scope"

    variable = operand_def()
    bound = operand_def()
    scope = operand_def()
    result = result_def()

    def __init__(self, variable: SSAValue, value: SSAValue, body: SSAValue):
        super().__init__(operands=[variable, value, body], result_types=[body.type])


_IDENTITIES: WeakKeyDictionary[Block, list[object]] = WeakKeyDictionary()
"""The identities of the variables for the arguments of a block."""


def identity_of(variable: SSAValue) -> object:
    """Returns the identity of a variable. Variables read from the same parameter have the same identity."""
    owner = variable.owner
    return owner.identity if isinstance(owner, VarBlock) else variable


def note_parameters(block: Block, variables: Sequence[SSAValue]) -> None:
    """Records the variables for which the arguments of a block were created."""
    _IDENTITIES[block] = [identity_of(variable) for variable in variables]


def variables_of(block: Block, names: Sequence[str]) -> list[SSAValue]:
    """Returns new variables for the arguments of a block, with the recorded identities."""
    known = _IDENTITIES.get(block, [])
    if len(known) != len(block.args):
        known = _IDENTITIES[block] = [object() for _ in block.args]
    return [
        VarBlock(name, argument.type, identity).args[0]
        for name, argument, identity in zip(names, block.args, known, strict=True)
    ]


def set_name(value: SSAValue, name: str) -> None:
    """Sets the name hint of a value, if the text format can represent `name`."""
    if SSAValue.is_valid_name(name):
        value.name_hint = name


def variable_name(value: SSAValue) -> str | None:
    """Returns the name of a variable, or None if the value is not a variable."""
    owner = value.owner
    return owner.name if isinstance(owner, VarBlock) else None


def steps(*roots: SSAValue) -> Iterator[tuple[Operation, bool]]:
    """Yields the ops in no block that `roots` need, operands before users, each once; iterative.

    A let scope is yielded twice: with False when its variable is bound, between value and body, then with True. Other
    ops are yielded with True. Ops in a block, such as that of xDSL's implicit builder, are not visited.
    """
    return ((value.op, done) for value, done in _met(*roots) if isinstance(value, OpResult))


def _met(*roots: SSAValue) -> Iterator[tuple[SSAValue, bool]]:
    """Yields the walk of `steps` and also values without a defining op, once for each use."""
    done: set[Operation] = set()
    stack: list[tuple[SSAValue, int]] = [(root, 0) for root in reversed(roots)]
    while stack:
        value, state = stack.pop()
        if not isinstance(value, OpResult):
            yield value, True
            continue
        op = value.op
        if op in done or op.parent is not None:
            continue
        if state == 1:
            yield value, False
        elif state == 2:
            done.add(op)
            yield value, True
        elif isinstance(op, LetScopeOp):
            stack += [(value, 2), (op.scope, 0), (value, 1), (op.bound, 0)]
        else:
            stack.append((value, 2))
            stack.extend((needed, 0) for needed in reversed(captured_values(op)))


def post_order(*roots: SSAValue) -> list[Operation]:
    """Returns the ops in no block that `roots` need, operands before users, each once; iterative."""
    return [op for op, done in steps(*roots) if done]


def captured_values(op: Operation) -> list[SSAValue]:
    """Returns the outside values that `op` uses: its operands and the captures of its regions."""
    if not op.regions:
        return list(op.operands)
    inside = set(op.walk())
    values = [value for inner in op.walk() for value in inner.operands]
    return [value for value in values if _is_outside(value, inside)]


def _is_outside(value: SSAValue, inside: set[Operation]) -> bool:
    owner = value.owner
    if isinstance(owner, Operation):
        return owner not in inside
    return owner.parent_op() not in inside


def free_variables(*roots: SSAValue) -> list[SSAValue]:
    """Returns the variables that `roots` use without binding them by lets, in the order of operands, depth first.

    For `add(x, exp(y))` the order is x, y.
    """
    found: dict[SSAValue, None] = {}
    bound: set[SSAValue] = set()
    for value, _ in _met(*roots):
        if isinstance(value, OpResult):
            if isinstance(value.op, LetScopeOp):
                bound.add(value.op.variable)
        elif variable_name(value) is not None:
            found[value] = None
    return [value for value in found if value not in bound]


def let_binding(scope: LetScopeOp, value: SSAValue) -> LetOp:
    """Returns the `relay.let` that binds the variable of a scope to `value`, in no block."""
    name = variable_name(scope.variable)
    type = scope.variable.type if isinstance(value.type, IncompleteType) else value.type
    properties = {"variable": StringAttr(name if name is not None else "v")}
    op = LetOp.create(operands=[value], result_types=[type], properties=properties)
    op.results[0].name_hint = scope.variable.name_hint
    return detach(op)


def detach(op: OperationT) -> OperationT:
    """Detaches `op` from the block of xDSL's implicit builder, if one is active."""
    if op.parent is not None:
        op.detach()
    return op


def yields(value: SSAValue) -> Region:
    """Returns a region that yields an outside value. In dataflow form the position of an op has no meaning."""
    return Region(Block([detach(YieldOp(value))]))


def lifted(block: Block, known: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    """Returns the values that `block` yields, computed by ops in no block. `known` maps its arguments to values.

    The values of branches are computed outside of them, and bindings become let scopes. Only ops that the results need
    remain reachable.
    """
    bindings: list[tuple[SSAValue, SSAValue]] = []
    for op in block.ops:
        match op:
            case YieldOp() | ReturnOp():
                break
            case LetOp():
                variable = VarBlock(op.variable.data, op.result.type).args[0]
                bindings.append((variable, known.get(op.value, op.value)))
                known[op.result] = variable
            case IfOp():
                branches = [lifted(region.block, known)[0] for region in op.regions]
                condition = known.get(op.condition, op.condition)
                known[op.result] = IfOp(condition, op.result.type, *(yields(value) for value in branches)).result
            case _:
                op.clone(known)
    last = block.last_op
    values: list[SSAValue] = [known.get(value, value) for value in last.operands] if last is not None else []
    if bindings and len(values) > 1:
        values = [TupleOp.call(*values).result]
    for variable, value in reversed(bindings):
        values = [LetScopeOp(variable, value, values[0]).result]
    return values
