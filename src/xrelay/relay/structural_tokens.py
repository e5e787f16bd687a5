"""A program as a series of tokens, in which names of variables do not occur: equal series, equal programs.

fn(a, b) { relu(a) - b }   →   a function of two parameters, subtract, relu, variable 0, variable 1
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from xrelay.dialects.attribute_names import BINDS, REQUIRES
from xrelay.dialects.defined_values import region_arguments
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.scope import LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.relay.attrs import Attrs
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.graph import LetScopeOp
from xrelay.relay.nodes import GlobalVar


def structural_tokens(node: object, map_free_vars: bool) -> Iterator[Hashable]:
    """The tokens of an expression, a function, a module, or of what has such in it; anything else is its own token.

    A value comes whole where it is met first, its operands behind it, and later as the number of that place. A free
    variable is itself, with `map_free_vars` its number and its type. Iterative.
    """
    walk = _Walk(map_free_vars)
    walk.pending.append(node)
    while walk.pending:
        yield walk.token(walk.pending.pop())


class _Walk:
    """What is still to come, the last first, and the numbers of what came."""

    def __init__(self, map_free_vars: bool):
        self.pending: list[object] = []
        self._map_free_vars = map_free_vars
        self._numbers: dict[SSAValue | Operation, int] = {}

    def token(self, node: object) -> Hashable:
        """The token of `node`, whose parts become pending."""
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
            case _:
                return self._data(node)

    def _value(self, value: SSAValue) -> Hashable:
        if value in self._numbers:
            return "variable", self._numbers[value]
        if not isinstance(value, OpResult):
            return self._free(value)
        op = value.op
        if op in self._numbers:
            return "again", self._numbers[op], value.index
        if isinstance(op, ConstantOp):
            return "constant", op.result.type, op.array.tobytes()
        if not _means_nothing_shared(op):
            self._number(op)
        return self._op(op), value.index

    def _free(self, variable: SSAValue) -> Hashable:
        if not self._map_free_vars:
            return "free", variable
        self._number(variable)
        return "free", self._numbers[variable], variable.type

    def _op(self, op: Operation) -> Hashable:
        """What an op does with its operands, which become pending, and the bodies of its regions behind them."""
        if isinstance(op, LetScopeOp):
            self._number(op.variable)
            self._push([op.bound, op.scope])
            return "let"
        for region in reversed(op.regions):
            for block in reversed(region.blocks):
                self._push(_computed(block))
        self._push(op.operands)
        arguments = region_arguments(op)
        for argument in arguments:
            self._number(argument)
        return type(op), _said(op), len(op.operands), len(arguments)

    def _function(self, function: Function) -> Hashable:
        for param in function.params:
            self._number(param.ssa_value)
        if function.itself is not None:
            self._number(function.itself.ssa_value)
        self._push([function.body])
        return "function", tuple(param.type for param in function.params), _frozen(function.attrs)

    def _module(self, module: ModuleOp) -> Hashable:
        funcs = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
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
                return "attributes", _frozen(node)
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

    def _number(self, node: SSAValue | Operation) -> None:
        self._numbers[node] = len(self._numbers)


def _means_nothing_shared(op: Operation) -> bool:
    """Whether it is the same to use a value of `op` twice or to make it twice."""
    return isinstance(op, TupleGetItemOp) or (isinstance(op, TupleOp) and not op.operands)


def _computed(block: Block) -> list[SSAValue]:
    """What a body computes whatever it gives: its bindings, in order; and last what it gives."""
    values: list[SSAValue] = [op.result for op in block.ops if isinstance(op, LetOp)]
    return values if block.last_op is None else [*values, *block.last_op.operands]


def _said(op: Operation) -> Hashable:
    """The attributes of an op but for the names of variables and what inference records."""
    properties = {name: value for name, value in op.properties.items() if not isinstance(op, LetOp)}
    attributes = {name: value for name, value in op.attributes.items() if name not in (REQUIRES, BINDS)}
    return frozenset(properties.items()), frozenset(attributes.items())


def _frozen(data: object) -> Hashable:
    """Numbers, texts, and lists and dictionaries of them, as what has a hash."""
    match data:
        case Mapping():
            entries = cast("Mapping[str, object]", data)
            return frozenset((name, _frozen(value)) for name, value in entries.items())
        case list() | tuple():
            return tuple(_frozen(part) for part in cast("Sequence[object]", data))
        case np.ndarray():
            return cast("np.ndarray[tuple[int, ...], np.dtype[np.generic]]", data).tobytes()
        case _:
            return cast("Hashable", data)
