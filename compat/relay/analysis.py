"""Analyses of expressions and modules: variables, order, form, features, types, multiply-accumulates.

Analyses that run passes are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import TensorType, TupleType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.errors import did_you_mean
from xrelay.relay.expr import Expr, Var
from xrelay.relay.features import Feature, detect_feature
from xrelay.relay.function import Function
from xrelay.relay.graph import captured, post_order
from xrelay.relay.mac_count import products
from xrelay.relay.nodes import Constant, Let, Tuple, free_vars, parts, post_order_visit
from xrelay.relay.normal_form import check_basic_block_normal_form

if TYPE_CHECKING:
    from xrelay.relay.annotated_regions import AnnotatedRegionSet as AnnotatedRegionSet
    from xrelay.relay.calibration import get_calibration_data as get_calibration_data
    from xrelay.relay.call_graph import CallGraph as CallGraph
    from xrelay.relay.layer_count import count_layers as count_layers
    from xrelay.relay.module_analysis import extract_fused_functions as extract_fused_functions
    from xrelay.relay.module_analysis import extract_intermdeiate_expr as extract_intermdeiate_expr
    from xrelay.relay.module_analysis import list_fake_quantized_op_freqs as list_fake_quantized_op_freqs
    from xrelay.relay.module_analysis import list_op_freqs as list_op_freqs

__all__ = [
    "AnnotatedRegionSet",
    "CallGraph",
    "Feature",
    "all_dtypes",
    "all_vars",
    "bound_vars",
    "captured",
    "check_basic_block_normal_form",
    "check_constant",
    "count_layers",
    "detect_feature",
    "extract_fused_functions",
    "extract_intermdeiate_expr",
    "free_vars",
    "get_calibration_data",
    "get_total_mac_number",
    "list_fake_quantized_op_freqs",
    "list_op_freqs",
    "post_order",
    "post_order_visit",
    "well_formed",
]


_LATE = {
    "AnnotatedRegionSet": "annotated_regions",
    "CallGraph": "call_graph",
    "count_layers": "layer_count",
    "extract_fused_functions": "module_analysis",
    "extract_intermdeiate_expr": "module_analysis",
    "get_calibration_data": "calibration",
    "list_fake_quantized_op_freqs": "module_analysis",
    "list_op_freqs": "module_analysis",
}
"""Analyses in files that import this one: name → file."""


def __getattr__(name: str) -> Any:
    """Returns a function that is imported on first use."""
    if name not in _LATE:
        raise AttributeError(f"relay.analysis has no {name!r}; {did_you_mean(name, __all__, ', '.join(__all__))}")
    return getattr(import_module(f"xrelay.relay.{_LATE[name]}"), name)


def all_vars(expr: Expr) -> list[Var]:
    """Returns the free and bound variables in `expr`, each once."""
    found: dict[Var, None] = {}
    post_order_visit(expr, lambda node: found.setdefault(node) if isinstance(node, Var) else None)
    return list(found)


def bound_vars(expr: Expr) -> list[Var]:
    """Returns the variables that `expr` binds by lets and as function parameters, in pre-order."""
    found: dict[Var, None] = {}
    done: set[Expr] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if node in done:
            continue
        done.add(node)
        if isinstance(node, Let):
            found[node.var] = None
        elif isinstance(node, Function):
            found.update(dict.fromkeys(node.params))
        stack.extend(reversed(parts(node)))
    return list(found)


def get_total_mac_number(expr: Expr) -> int:
    """Returns the number of multiply-accumulates in `expr`. Each op counts once, even if calls or loops repeat it.

    Raises `InputError` if an extent is dynamic.
    """
    ops: dict[Operation, None] = {}

    def note(node: Expr) -> None:
        owner = None if isinstance(node, Function) else node.ssa_value.owner
        if isinstance(owner, Operation):
            ops[owner] = None

    post_order_visit(expr, note)
    return sum(map(products, ops))


def well_formed(expr: Expr) -> bool:
    """Returns whether each variable is bound at most once and a function has no free variables."""
    binders: list[Var] = []

    def note(node: Expr) -> None:
        if isinstance(node, Let):
            binders.append(node.var)
        elif isinstance(node, Function):
            binders.extend(node.params)

    post_order_visit(expr, note)
    closed = not isinstance(expr, Function) or not free_vars(expr)
    return closed and len(binders) == len(set(binders))


def check_constant(expr: Expr) -> bool:
    """Returns whether `expr` is a constant, or a tuple of constants and such tuples; iterative."""
    pending: list[Expr] = [expr]
    while pending:
        node = pending.pop()
        if isinstance(node, Tuple):
            pending += node.fields
        elif not isinstance(node, Constant):
            return False
    return True


def all_dtypes(expr: Expr) -> set[str]:
    """Returns the names of the element types of all tensors in `expr` whose types are known."""
    types: list[Attribute] = []
    post_order_visit(expr, lambda node: types.append(node.type))
    found: set[str] = set()
    while types:
        type = types.pop()
        if isinstance(type, TensorType):
            found.add(str(numpy_dtype(type.element_type)))
        elif isinstance(type, TupleType):
            types += type.types
    return found
