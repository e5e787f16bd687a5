"""Expressions by kind, with the parts that Relay's users read: calls, constants, tuples, branches, bindings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import FunctionType, LocationAttr, TupleType
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute, Operation, OpResult, Region, SSAValue

from xrelay.api.tensor import Tensor
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.types import IncompleteType, dims_in, is_complete
from xrelay.dialects.relay.structure.call import NamedCallOp, callee_name
from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.function import InvokeOp
from xrelay.dialects.relay.structure.fused import FusedOp
from xrelay.dialects.relay.structure.scope import IfOp, LetOp
from xrelay.dialects.relay.structure.tuples import TupleGetItemOp, TupleOp
from xrelay.errors import InputError
from xrelay.relay.attrs import Attrs, Op
from xrelay.relay.expr import Expr, ExprLike, Var, as_value, call, const, tuple_of, view, views
from xrelay.relay.function import Function, attribute_of, invoke
from xrelay.relay.graph import LetScopeOp, set_name, yields


def op_of(expr: Expr) -> Operation:
    """The op whose result `expr` is."""
    return cast(OpResult, expr.ssa_value).op


class GlobalVar(Expr):
    """The name of a function of a module; `gv(x)` calls it. Names that are equal are equal.

    `type` is the function's, where it is known: calls have its result's type at once. Otherwise the module in which the
    calls come to stand gives it. As a value it stands for a closure that calls it, which Relay's `EtaExpand` makes of
    such a value.
    """

    def __init__(self, name_hint: str, type: FunctionType | None = None):
        self.name_hint, self.function_type = name_hint, type

    @property
    def ssa_value(self) -> SSAValue:
        """A closure that calls the function; `InputError` where its type is not known, or has names of its own."""
        known = self.function_type
        if known is None or any(dims_in(type) for type in (*known.inputs, *known.outputs)):
            raise InputError(
                f"the function @{self.name_hint} can be called, but is no value",
                help="IRModule.get_global_var gives it with its type; or wrap a call of it in relay.Function",
            )
        parameters = [Var(f"x{number}", type) for number, type in enumerate(known.inputs)]
        return Function(parameters, self(*parameters)).ssa_value

    @property
    def type(self) -> Attribute:
        """The function's type; `!relay.incomplete` where it is not known."""
        return IncompleteType() if self.function_type is None else self.function_type

    def __call__(self, *arguments: ExprLike) -> Expr:
        """The function's value at `arguments`: a tuple where it has several results."""
        outputs: Sequence[Attribute] = [IncompleteType()]
        if self.function_type is not None:
            # Names of the function's dimensions mean nothing here.
            outputs = [IncompleteType() if dims_in(type) else type for type in self.function_type.outputs]
        results = CallOp(self.name_hint, [as_value(argument) for argument in arguments], outputs).results
        return view(results[0]) if len(results) == 1 else tuple_of(list(results))

    def _key(self) -> object:
        return self.name_hint

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GlobalVar) and self.name_hint == other.name_hint

    def __hash__(self) -> int:
        return hash(self.name_hint)

    def __str__(self) -> str:
        return f"@{self.name_hint}"

    __repr__ = __str__


@views(RelayOp, CallOp, NamedCallOp, InvokeOp, FusedOp)
class Call(Expr):
    """An operator, a function or a closure (`op`) on `args`; `attrs` holds the attributes of the call."""

    def __init__(
        self,
        op: object,
        args: Sequence[ExprLike],
        attrs: Mapping[str, Any] | None = None,
        type_args: Sequence[object] | None = None,
        span: LocationAttr | None = None,
    ):
        """The call of an `Op`, a `GlobalVar`, a `Function` or an expression that is a function, from a place `span`.

        Raises `InputError` for what cannot be called, and for type arguments, which nothing here takes.
        """
        if type_args:
            raise InputError("functions here have no type parameters", help="leave type_args out")
        given = {} if attrs is None else dict(attrs)
        if isinstance(op, Op):
            made = call(op.kind, *args, **given)
        elif not isinstance(op, Expr):
            raise InputError(f"{op!r} cannot be called", help="relay.op.get gives an operator")
        else:
            made = op(*args) if isinstance(op, GlobalVar) else invoke(op, *args)
            op_of(made).attributes.update({name: attribute_of(name, value) for name, value in given.items()})
        if span is not None:
            op_of(made).location = span
        super().__init__(made.ssa_value)

    def astuple(self) -> Expr:
        """The tuple that the call returns, which is the call itself."""
        return self

    @property
    def size(self) -> int:
        """The number of fields of the tuple that the call returns."""
        return len(self)

    @property
    def type_args(self) -> list[Attribute]:
        """None: functions here have no type parameters. Programs that rebuild a call hand them on."""
        return []

    @property
    def op(self) -> Op | Expr:
        """An `Op`, a `GlobalVar`, a `Function`, or the expression of a closure."""
        match op_of(self):
            case CallOp() | NamedCallOp() as op:
                types = [operand.type for operand in op.operands]
                return GlobalVar(callee_name(op), FunctionType.from_lists(types, list(op.result_types)))
            case InvokeOp() as op:
                return view(op.callee)
            case FusedOp() as op:
                return Function.of_fused(op)
            case op:
                return Op.of(cast("type[RelayOp]", type(op)))

    @property
    def args(self) -> list[Expr]:
        """The arguments."""
        op = op_of(self)
        values = op.arguments if isinstance(op, InvokeOp) else op.operands
        return [view(value) for value in values]

    @property
    def attrs(self) -> Attrs | None:
        """The operator's attributes; of the call of a function those it was given, None where there are none."""
        op = op_of(self)
        return Attrs(op) if isinstance(op, RelayOp) or op.attributes else None


@views(ConstantOp)
class Constant(Expr):
    """A constant."""

    def __init__(self, data: object):
        """The constant that an array or a number is."""
        super().__init__(const(cast(Any, data)).ssa_value)

    @property
    def data(self) -> Tensor:
        """Its value as a numpy array that cannot be written; `numpy()` gives a copy that can."""
        array = cast(ConstantOp, op_of(self)).array
        copy = np.asarray(array).view(Tensor)
        copy.flags.writeable = False
        return copy


@views(TupleOp)
class Tuple(Expr):
    """A tuple of `fields`."""

    def __init__(self, fields: Sequence[ExprLike]):
        """The tuple of `fields`."""
        super().__init__(tuple_of(fields).ssa_value)

    @property
    def fields(self) -> list[Expr]:
        """The expressions it is made of."""
        return [view(value) for value in op_of(self).operands]

    def __getitem__(self, index: int) -> Expr:
        """The expression that field `index` is made of; a negative index counts from the end."""
        try:
            return self.fields[index]
        except TypeError as error:
            raise InputError(f"{index!r} is no index of a tuple's field") from error

    def __len__(self) -> int:
        return len(op_of(self).operands)


@views(TupleGetItemOp)
class TupleGetItem(Expr):
    """Field `index` of `tuple_value`."""

    def __init__(self, tuple_value: ExprLike, index: int):
        """The field of a tuple."""
        super().__init__(Expr(as_value(tuple_value))[index].ssa_value)

    @property
    def tuple_value(self) -> Expr:
        """The tuple."""
        return view(op_of(self).operands[0])

    @property
    def index(self) -> int:
        """The number of the field."""
        return cast(TupleGetItemOp, op_of(self)).index.value.data


@views(IfOp)
class If(Expr):
    """One of two values; only the chosen one is evaluated, whatever ops it takes."""

    def __init__(self, cond: ExprLike, true_branch: ExprLike, false_branch: ExprLike):
        """The value of `true_branch` where `cond` is true, else of `false_branch`."""
        chosen, other = as_value(true_branch), as_value(false_branch)
        type = other.type if isinstance(chosen.type, IncompleteType) else chosen.type
        if is_complete(chosen.type) and is_complete(other.type) and chosen.type != other.type:
            # Inference gives an extent in which the branches differ a name of its own.
            type = IncompleteType()
        super().__init__(IfOp(as_value(cond), type, yields(chosen), yields(other)).result)

    @property
    def cond(self) -> Expr:
        """The condition."""
        return view(op_of(self).operands[0])

    @property
    def true_branch(self) -> Expr:
        """The value where the condition is true."""
        return _yielded(op_of(self).regions[0])

    @property
    def false_branch(self) -> Expr:
        """The value where it is false."""
        return _yielded(op_of(self).regions[1])


@views(LetScopeOp)
class Let(Expr):
    """`let var = value; body`: its value is that of `body`, in which `var` stands for `value`.

    Where `value` is a function that mentions `var`, it calls itself.
    """

    def __init__(self, var: Var, value: ExprLike, body: ExprLike):
        """Binds a variable that nothing else binds; `InputError` for what is no variable, and for types that differ."""
        _check_variable(var)
        # A function that knows itself by a variable of its own keeps that one.
        if isinstance(value, Function) and value.itself is None:
            bound = value.closure(var).ssa_value
        else:
            bound = as_value(value)
        if is_complete(var.type) and is_complete(bound.type) and var.type != bound.type:
            raise InputError(f"let {var.name!r} is {var.type}, its value {bound.type}", help="give one type to both")
        super().__init__(LetScopeOp(var.value, bound, as_value(body)).result)

    @property
    def var(self) -> Var:
        """The variable."""
        return cast(Var, view(op_of(self).operands[0]))

    @property
    def value(self) -> Expr:
        """What the variable stands for."""
        return view(op_of(self).operands[1])

    @property
    def body(self) -> Expr:
        """The expression in which it does."""
        return view(op_of(self).operands[2])


def _check_variable(var: object) -> None:
    if not isinstance(var, Var):
        raise InputError(f"a let binds a variable, found {var!r}", help="relay.var makes one")


def parts(expr: Expr) -> list[Expr]:
    """The expressions that `expr` consists of, in the order in which Relay visits them."""
    match expr:
        case Call():
            op = expr.op
            return [op, *expr.args] if isinstance(op, Expr) else expr.args
        case Function():
            return [*expr.params, expr.body]
        case Tuple():
            return expr.fields
        case TupleGetItem():
            return [expr.tuple_value]
        case If():
            return [expr.cond, expr.true_branch, expr.false_branch]
        case Let():
            return [expr.var, expr.value, expr.body]
        case _:
            return []


def _yielded(region: Region) -> Expr:
    last = region.block.last_op
    if last is None or last.prev_op is not None:
        raise InputError("a branch computes its value inside", help="take the function from a module: mod['main']")
    return view(last.operands[0])


def let(name: str, value: ExprLike) -> Expr:
    """`value` bound to a name, without a body: what follows uses the expression that is returned."""
    bound = as_value(value)
    op = LetOp.call(bound, variable=name)
    set_name(op.result, name)
    return view(op.result)


class _TupleWrapperType(type):
    """The type of `TupleWrapper`, whose instances are calls that return a tuple."""

    def __call__(cls, tuple_value: ExprLike, size: int) -> Expr:
        """Returns the tuple itself, of `size` fields: it can be unpacked and read at numbers without a wrapper."""
        tuple_expr = view(as_value(tuple_value))
        if is_complete(tuple_expr.type) and len(tuple_expr) != size:
            raise InputError(f"the tuple is {tuple_expr.type}, not one of {size} fields")
        return tuple_expr

    def __instancecheck__(cls, instance: object) -> bool:
        """Whether `instance` is the call of an operator that returns a tuple."""
        return isinstance(instance, Call) and isinstance(instance.type, TupleType)


class TupleWrapper(metaclass=_TupleWrapperType):
    """Relay's wrapper of operators with several results, which here is the call itself."""
