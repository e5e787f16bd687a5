"""`transform.recast`: computes some operators of an expression in another element type.

half = transform.recast(func, "float16", "float16", ops=["nn.conv2d", "nn.dense"], skip_layers=[0, -1])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import AnyFloat, TensorType, TupleType
from xdsl.ir import Attribute

from xrelay.dialects.shared.dtypes import element_type, numpy_dtype
from xrelay.relay.binding import bind
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.layer_count import is_layer, layers_before
from xrelay.relay.module import IRModule
from xrelay.relay.nodes import Call, Tuple, TupleGetItem, free_vars
from xrelay.relay.pass_api.named_passes import create_pass
from xrelay.relay.visitor import ExprMutator

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
    given = expr if isinstance(expr, Function) else Function(free_vars(expr), expr)
    function = IRModule.of(create_pass("InferType")(IRModule.from_expr(given)))["main"]
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
        args = [_each(self.visit(arg), arg.type, self._cast) for arg in call.args]
        attributes = dict(call.attrs) if call.attrs is not None else {}
        if OUT_DTYPE in attributes:
            attributes[OUT_DTYPE] = self._out_dtype
        return _each(Call(call.op, args, attributes), call.type, _cast_back)

    def _cast(self, value: Expr, type: TensorType[Attribute]) -> Expr:
        is_to_be = isinstance(type.element_type, AnyFloat) and type.element_type != self._element
        return value.astype(self._dtype) if is_to_be else value


def _cast_back(value: Expr, type: TensorType[Attribute]) -> Expr:
    return value.astype(numpy_dtype(type.element_type))


def _each(value: Expr, type: Attribute, change: Callable[[Expr, TensorType[Attribute]], Expr]) -> Expr:
    """Applies `change` to a tensor, or to the tensors in a tuple; other values are returned unchanged."""
    if isinstance(type, TensorType):
        return change(value, type)
    if not isinstance(type, TupleType):
        return value
    fields = value.fields if isinstance(value, Tuple) else [TupleGetItem(value, n) for n in range(len(type.types))]
    return Tuple([_each(field, own, change) for field, own in zip(fields, type.types, strict=True)])
