"""Equality and hashes of programs up to the names of variables: `structural_equal`, `structural_hash`.

Programs are compared as sequences of tokens without names of variables:

fn(a, b) { relu(a) - b }   →   a function of two parameters, subtract, relu, variable 0, variable 1
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import cast

import numpy as np
from xdsl.dialects.builtin import FloatAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from xrelay.dialects.relay.core.attribute_values import int_attribute, to_python
from xrelay.dialects.relay.structure.call import is_call
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.dialects.shared.attribute_names import BINDS, COMPILER_PRIMITIVE, REQUIRES
from xrelay.dialects.shared.op_lists import region_arguments
from xrelay.passes.graph.calls import functions_of
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.graph import LetScopeOp, identity_of
from xrelay.relay.nodes import Attrs, GlobalVar


def structural_tokens(node: object, map_free_vars: bool) -> Iterator[Hashable]:
    """Yields the tokens of an expression, a function, a module or a collection; any other object is its own token.

    A value yields its tokens at its first occurrence, followed by those of its operands, and later its number. A free
    variable is its own token; with `map_free_vars` its number and type. As in Relay, a call with several results has a
    tuple as its result, and a fused group is the call of a primitive function. Iterative.
    """
    walk = _Walk(map_free_vars)
    walk.pending.append(node)
    while walk.pending:
        yield walk.token(walk.pending.pop())


@dataclass(eq=False)
class _Results:
    """All results of a call with several results, as the tuple of Relay's call."""

    call: Operation


@dataclass(eq=False)
class _Group:
    """The function that a fused group calls."""

    fused: FusedOp


class _Walk:
    """The stack of pending objects, and the numbers of visited ones."""

    def __init__(self, map_free_vars: bool):
        self.pending: list[object] = []
        self._map_free_vars = map_free_vars
        self._numbers: dict[object, int] = {}

    def token(self, node: object) -> Hashable:
        """Returns the token of `node` and pushes its parts."""
        match node:
            case SSAValue():
                return self._value(node)
            case GlobalVar():
                return "global", node.name_hint
            case Function():
                return self._function(node)
            case Expr():
                return self._value(node.ssa_value)
            case ModuleOp():
                return self._module(node)
            case FuncOp():
                return self._func(node)
            case _Results():
                return self._results(node.call)
            case _Group():
                return self._group(node)
            case _:
                return self._data(node)

    def _value(self, value: SSAValue) -> Hashable:
        if value in self._numbers:
            return "variable", self._numbers[value]
        if not isinstance(value, OpResult):
            return self._free(value)
        op = value.op
        if isinstance(op, TupleGetItemOp):
            return self._field(op)
        if (call := _call_of_several(op, value)) is not None:
            return self._results(call)
        if is_call(op) and len(op.results) > 1:
            self._push([_Results(op)])
            return "field", value.index
        if op in self._numbers:
            return "again", self._numbers[op], value.index
        if isinstance(op, ConstantOp):
            return "constant", op.result.type, op.array.tobytes()
        if not _means_nothing_shared(op):
            self._number(op)
        return self._op(op), value.index

    def _field(self, op: TupleGetItemOp) -> Hashable:
        self._push([op.data])
        return "field", op.index.value.data

    def _results(self, call: Operation) -> Hashable:
        """Returns the token of a call as one value."""
        if call in self._numbers:
            return "again", self._numbers[call], 0
        self._number(call)
        return self._op(call), 0

    def _free(self, variable: SSAValue) -> Hashable:
        if not self._map_free_vars:
            return "free", identity_of(variable)
        self._number(variable)
        return "free", self._numbers[variable], variable.type

    def _op(self, op: Operation) -> Hashable:
        """Returns the token of an op and pushes its operands, followed by the values of its regions."""
        if isinstance(op, LetScopeOp):
            self._number(op.variable)
            self._push([op.bound, op.scope])
            return "let"
        if isinstance(op, FusedOp):
            self._push([_Group(op), *op.operands])
            return InvokeOp, _attributes(op), len(op.operands) + 1, 0
        self._push_bodies(op)
        arguments = region_arguments(op)
        for argument in arguments:
            self._number(argument)
        return type(op), _attributes(op), len(op.operands), len(arguments)

    def _group(self, group: _Group) -> Hashable:
        """Returns the token of a function whose only attribute is that it is primitive, as `_value` does."""
        self._number(group)
        for argument in (arguments := group.fused.body.block.args):
            self._number(argument)
        self._push(_computed_values(group.fused.body.block))
        return (FnOp, _python({COMPILER_PRIMITIVE: int_attribute(1)}), 0, len(arguments)), 0

    def _push_bodies(self, op: Operation) -> None:
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                self._push(_computed_values(block))
        self._push(op.operands)

    def _function(self, function: Function) -> Hashable:
        for param in function.params:
            self._number(param.ssa_value)
        if function.itself is not None:
            self._number(function.itself.ssa_value)
        self._push([function.body])
        attributes = {name: value for name, value in function.attrs.items() if name != "sym_visibility"}
        return "function", tuple(param.type for param in function.params), _freeze(attributes)

    def _module(self, module: ModuleOp) -> Hashable:
        funcs = functions_of(module)
        self._push([funcs[name] for name in sorted(funcs)])
        return "module", *sorted(funcs)

    def _func(self, func: FuncOp) -> Hashable:
        if func.is_declaration:
            return "declaration", func.function_type
        return self._function(Function.of_func(func))

    def _data(self, node: object) -> Hashable:
        match node:
            case np.ndarray():
                array = cast("np.ndarray[tuple[int, ...], np.dtype[np.generic]]", node)
                return "array", str(array.dtype), array.shape, array.tobytes()
            case Attrs():
                return "attributes", _freeze(node)
            case Mapping():
                entries = cast("Mapping[object, object]", node)
                self._push([part for entry in entries.items() for part in entry])
                return "mapping", len(entries)
            case list() | tuple():
                parts = cast("Sequence[object]", node)
                self._push(parts)
                return "sequence", len(parts)
            case _:
                return node

    def _push(self, parts: Sequence[object]) -> None:
        self.pending.extend(reversed(parts))

    def _number(self, node: object) -> None:
        self._numbers[node] = len(self._numbers)


def _means_nothing_shared(op: Operation) -> bool:
    """Returns whether sharing a value of `op` is equivalent to computing it twice."""
    return isinstance(op, TupleOp) and not op.operands


def _call_of_several(op: Operation, value: SSAValue) -> Operation | None:
    """Returns the call whose results, all in order, make the tuple `value`; None for other values."""
    first = op.operands[0].owner if isinstance(op, TupleOp) and op.operands else None
    if not isinstance(first, Operation) or not is_call(first) or len(first.results) < 2:
        return None
    return first if list(op.operands) == list(first.results) else None


def _computed_values(block: Block) -> list[SSAValue]:
    """Returns the values that a body computes: its bindings in order, then its results."""
    values: list[SSAValue] = [op.result for op in block.ops if isinstance(op, LetOp)]
    return values if block.last_op is None else [*values, *block.last_op.operands]


def _attributes(op: Operation) -> Hashable:
    """Returns the attributes of an op without names of variables and inferred attributes."""
    properties = {} if isinstance(op, LetOp | FusedOp) else op.properties
    attributes = {name: value for name, value in op.attributes.items() if name not in (REQUIRES, BINDS)}
    if isinstance(op, FnOp | FusedOp | InvokeOp):
        return _python({**properties, **attributes})
    return _exact(properties), _exact(attributes)


def _exact(attributes: Mapping[str, Attribute]) -> Hashable:
    """Returns attributes of operators with floats rounded to f32, because 1e-5 may have been read as one."""
    return frozenset(
        (name, _rounded(value.value.data) if isinstance(value, FloatAttr) else value)
        for name, value in attributes.items()
    )


def _rounded(value: float) -> Hashable:
    with np.errstate(over="ignore"):
        return np.float32(value).tobytes()


def _python(attributes: Mapping[str, Attribute]) -> Hashable:
    """Returns attributes of functions as Python values, so that bit widths of numbers do not count."""
    return frozenset((name, _freeze(to_python(value))) for name, value in attributes.items())


def _freeze(data: object) -> Hashable:
    """Converts numbers, strings, lists and dictionaries to a hashable value."""
    match data:
        case Mapping():
            entries = cast("Mapping[str, object]", data)
            return frozenset((name, _freeze(value)) for name, value in entries.items())
        case list() | tuple():
            return tuple(_freeze(part) for part in cast("Sequence[object]", data))
        case np.ndarray():
            return cast("np.ndarray[tuple[int, ...], np.dtype[np.generic]]", data).tobytes()
        case _:
            return cast("Hashable", data)


def structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> bool:
    """Returns whether two expressions, functions, modules or types are equal up to the names of variables.

    Compared are operators, attributes (floats as f32), constants, function attributes, parameter types, the order of
    bindings, and whether a value is shared or computed twice, except for constants and tuple fields. Inferred types are
    not compared. Free variables are equal if they are the same variable; with `map_free_vars` they correspond in order
    of occurrence. Functions of modules correspond by name. Lists, tuples, dictionaries and arrays are compared by
    elements.
    """
    pairs = zip_longest(structural_tokens(lhs, map_free_vars), structural_tokens(rhs, map_free_vars))
    return all(one == other for one, other in pairs)


def assert_structural_equal(lhs: object, rhs: object, map_free_vars: bool = False) -> None:
    """Raises `ValueError` with both programs if they are not `structural_equal`."""
    if not structural_equal(lhs, rhs, map_free_vars):
        raise ValueError(f"the programs differ:\n{lhs}\n{rhs}")


def structural_hash(node: object, map_free_vars: bool = False) -> int:
    """Returns a hash that is equal for `structural_equal` objects in this process.

    Without `map_free_vars` it depends on the identity of the free variables.
    """
    made = 0
    for token in structural_tokens(node, map_free_vars):
        made = hash((made, token))
    return made
