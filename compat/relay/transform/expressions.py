"""Passes on one expression: `FoldConstantExpr`, `ToANormalFormExpr`, `InferTypeLocal`, `recast`.

half = transform.recast(func, "float16", "float16", ops=["nn.conv2d", "nn.dense"], skip_layers=[0, -1])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from xdsl.dialects.builtin import AnyFloat, FunctionType, ModuleOp, TensorType, TupleType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, Region, SSAValue

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.passes.relay.eliminate_common_subexpr import eliminate_common_subexpressions
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.analysis import is_layer, layers_before
from xrelay.relay.binding import bind
from xrelay.relay.copies import copy_into
from xrelay.relay.expr import Expr, ExprLike, as_value, block_for, view
from xrelay.relay.function import Function
from xrelay.relay.graph import detach, free_variables, post_order
from xrelay.relay.module import MAIN, IRModule, add_function, as_function
from xrelay.relay.nodes import Call, Tuple, TupleGetItem, free_vars
from xrelay.relay.pass_api.named_passes import create_pass
from xrelay.relay.types import TypeView, type_view
from xrelay.relay.visitor import ExprMutator


def fold_constant_expr(expr: Expr, mod: IRModule, fold_qnn: bool = False) -> Expr:
    """Returns `expr` with constant subexpressions folded, as `FoldConstant` does in a module.

    `mod` contains the functions that it calls. With `fold_qnn`, operators on quantised numbers are folded too. Raises
    `TypeInferenceError` if the types of variables do not determine all others.
    """
    return _transformed(expr, "FoldConstant{fold_qnn=true}" if fold_qnn else "FoldConstant", mod)


def to_a_normal_form_expr(e: Expr) -> Expr:
    """Returns `e` with each intermediate value bound by a let, as `ToANormalForm` does in a module.

    Raises `TypeInferenceError` if the types of variables do not determine all others.
    """
    return _transformed(e, "ToANormalForm", IRModule({}))


def _transformed(expr: Expr, pass_text: str, mod: IRModule) -> Expr:
    """Applies the pass to a function of the free variables of `expr` in a copy of `mod`; returns the expression."""
    variables = [] if isinstance(expr, Function) else free_vars(expr)
    module = IRModule.of(mod)
    name = add_function(module, as_function(expr), "expr")
    function = IRModule.of(create_pass(pass_text)(module))[name]
    if isinstance(expr, Function):
        return function
    return bind(function.body, dict(zip(function.params, variables, strict=True)))


def infer_type_local(expr: ExprLike) -> TypeView:
    """Returns the type of an expression, for a function its function type. Infers only if the type is incomplete.

    Raises `TypeInferenceError` if types contradict each other, or do not determine this one.
    """
    value = as_value(expr)
    found = value.type if is_complete(value.type) else _infer_types(value)[value]
    if not is_complete(found):
        raise TypeInferenceError(
            f"not enough is known to infer the type of {expr!r}", help="specify the types of its variables"
        )
    return type_view(found)


class InferredTypes:
    """The types of values, inferred on demand together with the types of all values that they depend on.

    If users are queried before their operands, each value is inferred once.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, Attribute] = {}

    def of(self, value: SSAValue) -> Attribute | None:
        """Returns the type of a value; None if it is not determined or types contradict each other."""
        if is_complete(value.type):
            return value.type
        if value not in self._known:
            self._known[value] = value.type
            with suppress(XRelayError):
                self._known.update(_infer_types(value))
        found = self._known[value]
        return found if is_complete(found) else None


def _infer_types(root: SSAValue) -> dict[SSAValue, Attribute]:
    """Infers the types of `root` and the values it needs, in a function of its free variables.

    Raises the errors of type inference.
    """
    variables = free_variables(root)
    values = [*variables, *(result for op in post_order(root) for result in op.results)]
    block = block_for(variables)
    copies = copy_into(block, [*values, root], dict(zip(variables, block.args, strict=True)))
    block.add_op(detach(ReturnOp(copies[-1])))
    type = FunctionType.from_lists(list(block.arg_types), [copies[-1].type])
    module = ModuleOp([FuncOp("inferred", type, Region(block))])
    infer_types(module)
    # Inference replaces results, but not ops.
    return {value: _type_now(copy) for value, copy in zip(values, copies[:-1], strict=True)}


def _type_now(copy: SSAValue) -> Attribute:
    """Returns the inferred type of a value: that of the result or argument at its index."""
    if isinstance(copy, OpResult):
        return copy.op.results[copy.index].type
    return copy.owner.args[copy.index].type if isinstance(copy, BlockArgument) else copy.type


OUT_DTYPE = "out_dtype"


def recast(
    expr: Expr, dtype: str, out_dtype: str, ops: Sequence[str] = ("nn.conv2d",), skip_layers: Sequence[int] = ()
) -> Expr:
    """Returns `expr` with the operators `ops` on operands cast to `dtype`, and their results cast back.

    Float operands are cast, including fields of tuples. An operator with an attribute `out_dtype` computes `out_dtype`.
    The layer of an operator is the most `ops` on a path to it, counted from 0. Layers in `skip_layers` are not changed;
    negative numbers count from the last layer. Raises `TypeInferenceError` if the types of variables do not determine
    all others.
    """
    variables = list[Expr](free_vars(expr)) if not isinstance(expr, Function) else []
    function = IRModule.of(create_pass("InferType")(IRModule.from_expr(expr)))[MAIN]
    made = _Recast(function, dtype, out_dtype, ops, skip_layers).visit(function)
    if isinstance(expr, Function):
        return made
    return bind(made.body, dict(zip(made.params, variables, strict=True)))


class _Recast(ExprMutator):
    def __init__(self, function: Function, dtype: str, out_dtype: str, ops: Sequence[str], skipped: Sequence[int]):
        super().__init__()
        self._dtype, self._out_dtype, self._ops = dtype, out_dtype, set(ops)
        self._element = element_type(dtype)
        self._layers = layers_before(function, ops)
        count = max((layer + 1 for node, layer in self._layers.items() if is_layer(node, ops)), default=0)
        self._skipped = {layer + count if layer < 0 else layer for layer in skipped}

    def visit_call(self, call: Call) -> Expr:
        """Returns the call in the other element type with its result cast back, unless its layer is skipped."""
        if not is_layer(call, self._ops) or self._layers[call] in self._skipped:
            return super().visit_call(call)
        args = [_map_tensors(self.visit(arg), arg.type, self._cast) for arg in call.args]
        attributes = dict(call.attrs) if call.attrs is not None else {}
        if OUT_DTYPE in attributes:
            attributes[OUT_DTYPE] = self._out_dtype
        return _map_tensors(Call(call.op, args, attributes), call.type, _cast_back)

    def _cast(self, value: Expr, type: TensorType[Attribute]) -> Expr:
        is_to_be = isinstance(type.element_type, AnyFloat) and type.element_type != self._element
        return value.astype(self._dtype) if is_to_be else value


def _cast_back(value: Expr, type: TensorType[Attribute]) -> Expr:
    return value.astype(numpy_dtype(type.element_type))


def _map_tensors(value: Expr, type: Attribute, change: Callable[[Expr, TensorType[Attribute]], Expr]) -> Expr:
    """Applies `change` to a tensor, or to the tensors in a tuple; other values are returned unchanged."""
    if isinstance(type, TensorType):
        return change(value, type)
    if not isinstance(type, TupleType):
        return value
    fields = value.fields if isinstance(value, Tuple) else [TupleGetItem(value, n) for n in range(len(type.types))]
    return Tuple([_map_tensors(field, own, change) for field, own in zip(fields, type.types, strict=True)])


def eliminate_common_subexpressions_of(
    module: ModuleOp,
    *,
    fskip: Callable[[Expr], bool] | None = None,
    skip: Callable[[Operation], bool] | None = None,
) -> int:
    """Merges equal ops, except those for which a predicate holds; returns the number of ops erased.

    `fskip` receives each expression as in Relay's pass: a `relay.Call` with its `op` and `attrs`, a `relay.Constant`
    and so on. `skip` receives the xDSL op.
    """

    def is_left_alone(op: Operation) -> bool:
        return (skip is not None and skip(op)) or (fskip is not None and bool(fskip(view(op.results[0]))))

    return eliminate_common_subexpressions(module, skip=is_left_alone)
