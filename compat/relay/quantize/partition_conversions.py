"""Splits a quantised program into three functions: quantise the inputs, compute, and dequantise the results.

`main` calls `quantize_inputs`, `quantized_main` and `dequantize_outputs` in this order. Inputs with other uses than
quantisation are passed on unchanged; so are results that are not dequantised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.locations import location_of
from xrelay.errors import InputError
from xrelay.passes.graph.tuple_leaves import leaf_types
from xrelay.passes.infra.verify import walk_ops
from xrelay.relay.analysis import post_order_visit
from xrelay.relay.expr import Expr, Var
from xrelay.relay.function import Function
from xrelay.relay.module import MAIN, IRModule
from xrelay.relay.nodes import Call, Constant, Op, Tuple, TupleGetItem
from xrelay.relay.visitor import ExprMutator

PREFIX: Final = "quantize_inputs"
CORE: Final = "quantized_main"
SUFFIX: Final = "dequantize_outputs"


class NotIntegralError(InputError, AssertionError):
    """A program has floats although integers are required. Relay raises an `AssertionError`."""


def partition_conversions(module: IRModule, *, fully_integral: bool) -> IRModule:
    """Returns the program of three functions and the `main` that calls them.

    Raises `InputError` if the module has other functions than `main`, and `NotIntegralError` if `fully_integral` is set
    and `quantized_main` computes, reads or returns a float.
    """
    names = [str(name.name_hint) for name in module.get_global_vars()]
    if names != [MAIN]:
        raise InputError(
            f"partition_conversions requires a module with @main only, found @{', @'.join(names)}",
            help="inline the others first: relay.transform.Inline()",
        )
    func = module[MAIN]
    quantised = _quantised(func)
    inner = {expr: Var(expr_name, expr.type) for expr, expr_name in quantised.items()}
    core_body = _Replaced(inner).visit(func.body)
    results = _fields(core_body)
    integers = [_dequantised(result) or result for result in results]
    outer = [Var(f"output_{index}", value.type) for index, value in enumerate(integers)]
    given = [
        _Replaced({integer: var}).visit(result) for result, integer, var in zip(results, integers, outer, strict=True)
    ]
    kept = [param for param in func.params if param in _variables(core_body)]
    parts = IRModule(
        {
            PREFIX: Function(func.params, _together([*quantised, *kept])),
            CORE: Function([*inner.values(), *kept], _together(integers)),
            SUFFIX: Function(outer, _together(given)),
        }
    )
    if fully_integral:
        _require_integers(parts)
    parts[MAIN] = _calling(func, parts)
    _function(parts, MAIN).res_attrs = _function(module, MAIN).res_attrs
    return parts


def _quantised(func: Function) -> dict[Expr, str]:
    """Returns the quantised parameters, each with the name of the parameter: calls of `qnn.quantize` and `clip`.

    In a chain of such calls it is the last one.
    """
    found: dict[Expr, str] = {}
    params: dict[Expr, str] = {param: param.name for param in func.params}

    def look(node: Expr) -> None:
        if not isinstance(node, Call) or not isinstance(node.op, Op) or not all(map(_is_constant, node.args[1:])):
            return
        if not node.args:
            return
        first = node.args[0]
        if node.op.name == "qnn.quantize" and first in params:
            found[node] = params[first]
        elif node.op.name == "clip" and first in found:
            found[node] = found.pop(first)

    post_order_visit(func, look)
    return found


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Constant)


def _dequantised(expr: Expr) -> Expr | None:
    """Returns the integers that `expr` dequantises with constants, or None."""
    if isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == "qnn.dequantize":
        return expr.args[0] if all(map(_is_constant, expr.args[1:])) else None
    return None


def _fields(expr: Expr) -> list[Expr]:
    return list(expr.fields) if isinstance(expr, Tuple) else [expr]


def _together(values: Sequence[Expr]) -> Expr:
    return values[0] if len(values) == 1 else Tuple(list(values))


def _variables(expr: Expr) -> set[Expr]:
    found: set[Expr] = set()
    post_order_visit(expr, lambda node: found.add(node) if isinstance(node, Var) else None)
    return found


def _calling(func: Function, parts: IRModule) -> Function:
    """Returns `main`, which calls the three functions in order."""
    values: list[Expr] = list(func.params)
    for name in (PREFIX, CORE, SUFFIX):
        result = parts.get_global_var(name)(*values)
        count = len(_function(parts, name).function_type.outputs.data)
        values = [result] if count == 1 else [TupleGetItem(result, index) for index in range(count)]
    return func.with_parts(func.params, _together(values))


class _Replaced(ExprMutator):
    """Replaces expressions by others."""

    def __init__(self, values: Mapping[Expr, Expr]):
        super().__init__()
        self._values = values

    def dispatch(self, expr: Expr) -> Any:
        """Returns the replacement of an expression."""
        found = self._values.get(expr)
        return super().dispatch(expr) if found is None else found


def _function(module: ModuleOp, name: str) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)


# --- the demand ----------------------------------------------------------------------------------------------------


def _require_integers(parts: IRModule) -> None:
    """Raises `NotIntegralError` if `quantized_main` has float parameters or computes floats from its parameters."""
    core = _function(parts, CORE)
    dependent: set[SSAValue] = set(core.body.block.args)
    for arg in core.body.block.args:
        if _has_floats(arg.type):
            name = arg.name_hint
            raise NotIntegralError(
                f"input {name!r} is read as floats", help="partition_conversions='enabled' allows that"
            )
    for op in walk_ops(core):
        if any(operand in dependent for operand in op.operands) or op.regions:
            dependent.update(op.results)
            _require_integer_results(op)


def _require_integer_results(op: Operation) -> None:
    if op.results and any(_has_floats(result.type) for result in op.results) and not isinstance(op, FuncOp):
        raise NotIntegralError(
            f"{op.name} is computed in floats",
            location=location_of(op),
            help="partition_conversions='enabled' allows that; xrelay-opt --remarks prints the reasons",
        )


def _has_floats(type: Attribute) -> bool:
    return any(
        isinstance(leaf, TensorType) and numpy_dtype(leaf.element_type).kind not in "iub" for leaf in leaf_types([type])
    )
