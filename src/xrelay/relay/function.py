"""`relay.Function`, `relay.Module` and the scopes: from expressions to IR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from xrelay.dialects.attribute_names import VALUE_NAME
from xrelay.dialects.relay.core.types import IncompleteType
from xrelay.dialects.relay.structure.function import FnOp, InvokeOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.errors import InputError
from xrelay.relay.analysis import free_vars, post_order
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, set_name

OperationT = TypeVar("OperationT", bound=Operation)


class Function:
    """A function of `params` with `body`; `str` shows it as text, types that are not known yet as `!relay.incomplete`.

    A body that is a `relay.Tuple` gives a function of several results. As a closure it may use variables of the
    function around it. Raises `InputError` for parameters that are no variables, or one that is given twice.
    """

    params: list[Var]
    body: Expr

    def __init__(self, params: Sequence[Var], body: ExprLike):
        self.params, self.body = _checked(params), Expr(as_value(body))

    def to_func(self, name: str = "main") -> FuncOp:
        """The function as `func.func @name`; each call makes a copy of its own.

        Raises `InputError` where the body uses a variable that is no parameter.
        """
        params = set(self.params)
        unbound = [var.name for var in free_vars(self.body) if var not in params]
        if unbound:
            raise InputError(
                f"the body uses variables that are no parameters: {', '.join(unbound)}",
                help="pass relay.analysis.free_vars(body) as parameters",
            )
        block = _bind(self.params)
        results = _copy_into(block, self.params, self._results())
        block.add_op(detached(ReturnOp(*results)))
        type = FunctionType.from_lists(block.arg_types, [result.type for result in results])
        outputs = ["output"] if len(results) == 1 else [f"output_{index}" for index in range(len(results))]
        return FuncOp(
            name,
            type,
            Region(block),
            arg_attrs=_names(_distinct([param.name for param in self.params])),
            res_attrs=_names(outputs),
        )

    def _results(self) -> Sequence[SSAValue]:
        value = self.body.value
        if isinstance(value, OpResult) and isinstance(value.op, TupleOp) and value.op.parent is None:
            return value.op.operands
        return [value]

    def closure(self) -> Expr:
        """The function as a value (`relay.fn`)."""
        block = _bind(self.params)
        (result,) = _copy_into(block, self.params, [self.body.value])
        block.add_op(detached(YieldOp(result)))
        return Expr(FnOp(FunctionType.from_lists(block.arg_types, [result.type]), Region(block)).result)

    def __call__(self, *arguments: ExprLike) -> Expr:
        """The function's value at `arguments`."""
        return invoke(self.closure(), *arguments)

    def __str__(self) -> str:
        return str(self.to_func())


class Module:
    """Makes modules (xDSL's `ModuleOp`) of functions and expressions."""

    @staticmethod
    def from_expr(expr: Function | ExprLike, name: str = "main") -> ModuleOp:
        """A module with one function; the free variables of an expression become its parameters."""
        return Module.from_functions({name: expr})

    @staticmethod
    def from_functions(functions: dict[str, Function | ExprLike]) -> ModuleOp:
        """A module with a function for every name."""
        return ModuleOp([_as_function(expr).to_func(name) for name, expr in functions.items()])


def invoke(callee: ExprLike, *arguments: ExprLike) -> Expr:
    """The value of a function at `arguments`."""
    function = as_value(callee)
    type = function.type
    result: Attribute = type.outputs.data[0] if isinstance(type, FunctionType) else IncompleteType()
    return Expr(InvokeOp(function, [as_value(argument) for argument in arguments], result).result)


def If(condition: ExprLike, true_branch: ExprLike, false_branch: ExprLike) -> Expr:  # noqa: N802 (Relay's name)
    """One of two values; only the chosen one is evaluated, whatever ops it takes."""
    true_value, false_value = as_value(true_branch), as_value(false_branch)
    type = false_value.type if isinstance(true_value.type, IncompleteType) else true_value.type
    return Expr(IfOp(as_value(condition), type, _yield_region(true_value), _yield_region(false_value)).result)


def let(name: str, value: ExprLike) -> Expr:
    """`value` bound to a name: what follows uses the expression that is returned."""
    bound = as_value(value)
    op = LetOp.call(bound, variable=name)
    set_name(op.result, name)
    return Expr(op.result)


def _yield_region(value: SSAValue) -> Region:
    """A region that yields a value from around it: in dataflow form position means nothing."""
    return Region(Block([detached(YieldOp(value))]))


def _checked(params: object) -> list[Var]:
    """`params` as distinct variables."""
    if not isinstance(params, (list, tuple)):
        raise InputError(f"the parameters are {params!r}", help="give a list of variables, as relay.analysis.free_vars")
    result: dict[Var, None] = {}
    for number, param in enumerate(cast("Sequence[object]", params)):
        if not isinstance(param, Var):
            raise InputError(f"parameter #{number} is no variable: {param!r}", help="relay.var makes one")
        if param in result:
            raise InputError(f"variable {param.name!r} is given twice as a parameter")
        result[param] = None
    return list(result)


def _distinct(names: Sequence[str]) -> list[str]:
    """`names` with a number after those that came before: inputs are given by name."""
    taken, result = set(names), list[str]()
    seen: set[str] = set()
    for name in names:
        new, number = name, 0
        while new in seen or (number and new in taken):
            number += 1
            new = f"{name}_{number}"
        seen.add(new)
        result.append(new)
    return result


def _as_function(expr: Function | ExprLike) -> Function:
    if isinstance(expr, Function):
        return expr
    body = Expr(as_value(expr))
    return Function(free_vars(body), body)


def _bind(params: Sequence[Var]) -> Block:
    """A block with an argument for every parameter."""
    block = Block(arg_types=[param.type for param in params])
    for param, argument in zip(params, block.args, strict=True):
        set_name(argument, param.name)
    return block


def detached(op: OperationT) -> OperationT:
    """`op` in no block: xDSL's implicit builder, where one is active, has put it into its own."""
    if op.parent is not None:
        op.detach()
    return op


def _copy_into(block: Block, params: Sequence[Var], values: Sequence[SSAValue]) -> list[SSAValue]:
    """Copy what `values` need to the end of `block`, parameters replaced by its arguments; the copies of `values`."""
    mapping: dict[SSAValue, SSAValue] = {param.value: arg for param, arg in zip(params, block.args, strict=True)}
    for op in post_order(*values):
        block.add_op(detached(op.clone(mapping)))
    return [mapping.get(value, value) for value in values]


def _names(names: Sequence[str]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr({VALUE_NAME: StringAttr(name)}) for name in names])
