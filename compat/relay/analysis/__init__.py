"""Analyses of expressions and modules: variables, form, features, types, layers, multiply-accumulates.

Analyses of modules and regions import passes, and are imported on first use.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from enum import IntEnum
from functools import reduce
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp, TensorType, TupleType
from xdsl.ir import Attribute, Operation

from xrelay.dialects.relay.ops.nn.conv import FilterOp
from xrelay.dialects.relay.ops.nn.dense import ContribDensePackOp, DenseOp
from xrelay.dialects.relay.ops.nn.matmul import BatchMatmulOp, MatmulOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.dialects.shared.types import is_complete, shape_of
from xrelay.errors import InputError, did_you_mean
from xrelay.index_algebra.dims import Dim, product
from xrelay.relay.copies import Scope
from xrelay.relay.expr import Expr, Var
from xrelay.relay.function import Function
from xrelay.relay.graph import captured_values, post_order
from xrelay.relay.module import MAIN, IRModule
from xrelay.relay.nodes import (
    Call,
    Constant,
    GlobalVar,
    If,
    Let,
    Op,
    Tuple,
    TupleGetItem,
    free_vars,
    parts,
    post_order_visit,
)

if TYPE_CHECKING:
    from xrelay.relay.analysis.annotated_regions import AnnotatedRegionSet as AnnotatedRegionSet
    from xrelay.relay.analysis.modules import CallGraph as CallGraph
    from xrelay.relay.analysis.modules import extract_fused_functions as extract_fused_functions
    from xrelay.relay.analysis.modules import extract_intermdeiate_expr as extract_intermdeiate_expr
    from xrelay.relay.analysis.modules import get_calibration_data as get_calibration_data
    from xrelay.relay.analysis.modules import list_fake_quantized_op_freqs as list_fake_quantized_op_freqs
    from xrelay.relay.analysis.modules import list_op_freqs as list_op_freqs

__all__ = [
    "AnnotatedRegionSet",
    "CallGraph",
    "Feature",
    "all_dtypes",
    "all_vars",
    "bound_vars",
    "captured_values",
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
    "CallGraph": "modules",
    "extract_fused_functions": "modules",
    "extract_intermdeiate_expr": "modules",
    "get_calibration_data": "modules",
    "list_fake_quantized_op_freqs": "modules",
    "list_op_freqs": "modules",
}
"""Name → the module of this package."""


def __getattr__(name: str) -> Any:
    """Returns a function that is imported on first use."""
    if name not in _LATE:
        raise AttributeError(f"relay.analysis has no {name!r}; {did_you_mean(name, __all__, ', '.join(__all__))}")
    return getattr(import_module(f"{__name__}.{_LATE[name]}"), name)


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


Feature = IntEnum(
    "Feature",
    [
        "fVar",
        "fGlobalVar",
        "fConstant",
        "fTuple",
        "fTupleGetItem",
        "fFunction",
        "fOp",
        "fCall",
        "fLet",
        "fIf",
        "fRefCreate",
        "fRefRead",
        "fRefWrite",
        "fConstructor",
        "fMatch",
        "fGraph",
        "fLetRec",
    ],
    start=0,
)
"""The language features, with Relay's names and numbers. Programs here have no references and no data types.
`fGraph`: an expression other than a variable, constant or function name is used several times. `fLetRec`: a function
that a let binds calls itself."""

_OF_KIND: tuple[tuple[type[Expr], Feature], ...] = (
    (Var, Feature.fVar),
    (GlobalVar, Feature.fGlobalVar),
    (Constant, Feature.fConstant),
    (Tuple, Feature.fTuple),
    (TupleGetItem, Feature.fTupleGetItem),
    (Function, Feature.fFunction),
    (Call, Feature.fCall),
    (Let, Feature.fLet),
    (If, Feature.fIf),
)


def detect_feature(a: Expr | ModuleOp | None, b: Expr | ModuleOp | None = None) -> set[Feature]:
    """Returns the features that an expression or all functions of a module use; for one of each, their union.

    Raises `InputError` for two expressions or two modules.
    """
    given = [one for one in (a, b) if one is not None]
    if len({isinstance(one, ModuleOp) for one in given}) < len(given):
        raise InputError("detect_feature takes an expression, a module, or one of each")
    found: set[Feature] = set()
    for root in _roots(given):
        _detect(root, found)
    return found


def _roots(given: list[Expr | ModuleOp]) -> list[Expr]:
    """Returns the expressions to search."""
    roots: list[Expr] = []
    for one in given:
        if isinstance(one, Expr):
            roots.append(one)
        else:
            roots += IRModule.of(one).functions.values()
    return roots


def _detect(root: Expr, found: set[Feature]) -> None:
    """Adds the features of the subexpressions of `root` to `found`; iterative."""
    seen: set[Expr] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if node in seen:
            if not isinstance(node, Var | Constant | GlobalVar):
                found.add(Feature.fGraph)
            continue
        seen.add(node)
        found.update(feature for kind, feature in _OF_KIND if isinstance(node, kind))
        if isinstance(node, Call) and isinstance(node.op, Op):
            found.add(Feature.fOp)
        if isinstance(node, Function) and node.itself is not None:
            found.add(Feature.fLetRec)
        pending += parts(node)


PRODUCTS = (DenseOp, ContribDensePackOp, MatmulOp, BatchMatmulOp)


def products(op: Operation) -> int:
    """Returns the number of multiply-accumulates of `op`: elements of the result times products per element.

    Other ops than products have 0. Raises `InputError` if extents are dynamic.
    """
    if not isinstance(op, (FilterOp, *PRODUCTS)):
        return 0
    if not all(map(is_complete, (*op.operand_types, *op.result_types))):
        raise InputError(
            f"the types of {op.name} are not known", help="specify the shapes of variables, or infer types before"
        )
    count = product((*shape_of(op.results[0].type), *_depth(op)))
    if not isinstance(count, int):
        raise InputError(f"{op.name} has {count} products", help="specify static shapes of the inputs")
    return count


def _depth(op: Operation) -> list[Dim]:
    """Returns the extents whose product is the number of products per element."""
    if not isinstance(op, FilterOp):
        transposed = isinstance(op, MatmulOp | BatchMatmulOp) and op.transposed[0]
        return [shape_of(op.operands[0].type)[-2 if transposed else -1]]
    data, kernel, _ = op.layouts
    weight = op.extents_in(kernel, shape_of(op.operands[1].type))
    channels = op.extents_in(data, shape_of(op.operands[0].type))["C"]
    return [channels // op.groups.value.data, *(weight[axis] for axis in op.AXES)]


def count_layers(expr: Expr | ModuleOp, valid_ops: Collection[str]) -> int:
    """Returns the most operators with a name in `valid_ops` on a path of an expression, or of `@main`.

    Operators on parallel paths are not added up. Raises `InputError` for a module without `@main`.
    """
    root = IRModule.of(expr)[MAIN] if isinstance(expr, ModuleOp) else expr
    return layers_before(root, valid_ops)[root] + is_layer(root, valid_ops)


def layers_before(root: Expr, valid_ops: Collection[str]) -> dict[Expr, int]:
    """Returns for each expression in `root` the most operators of these names on a path to it."""
    before: dict[Expr, int] = {}
    through: dict[Expr, int] = {}

    def note(node: Expr) -> None:
        before[node] = max((through[part] for part in parts(node)), default=0)
        through[node] = before[node] + is_layer(node, valid_ops)

    post_order_visit(root, note)
    return before


def is_layer(node: Expr, valid_ops: Collection[str]) -> bool:
    """Returns whether `node` calls an operator of one of these names."""
    op = node.op if isinstance(node, Call) else None
    return isinstance(op, Op) and op.name in valid_ops


def check_basic_block_normal_form(expr: Expr) -> bool:
    """Returns True if `expr` is in basic block normal form; else raises `InputError`.

    An expression used in several branches or functions must also be used in the enclosing scope, or be bound there by a
    let. Bound variables, constants and function names may be used anywhere. A function inside an expression has copies
    of the expressions that it uses.
    """
    nodes: list[Expr] = []
    post_order_visit(expr, nodes.append)
    bound = _bound(nodes)
    uses: dict[Expr, list[Scope]] = {expr: [Scope()]}
    for node in reversed(nodes):
        used = uses[node]
        scope = reduce(Scope.common, used)
        if scope not in used and node not in bound and not isinstance(node, Constant | GlobalVar):
            raise InputError(
                f"{node!r} is used in several scopes, but not in their common scope",
                help="bind it with a let, or run transform.ToBasicBlockNormalForm",
            )
        for operand, inner in _scopes_of_operands(node, scope):
            uses.setdefault(operand, []).append(inner)
    return True


def _bound(nodes: list[Expr]) -> set[Expr]:
    """Returns the variables that lets and functions among `nodes` bind."""
    bound: set[Expr] = set()
    for node in nodes:
        if isinstance(node, Let):
            bound.add(node.var)
        elif isinstance(node, Function):
            bound.update(node.params)
            bound.update([node.itself] if isinstance(node.itself, Var) else [])
    return bound


def _scopes_of_operands(node: Expr, scope: Scope) -> Iterator[tuple[Expr, Scope]]:
    """Yields each direct subexpression of `node`, which is in `scope`, with the scope of its use."""
    if isinstance(node, If):
        yield node.cond, scope
        yield node.true_branch, scope.inner()
        yield node.false_branch, scope.inner()
    elif isinstance(node, Function):
        inner = scope.inner()
        yield from ((operand, inner) for operand in parts(node))
    else:
        yield from ((operand, scope) for operand in parts(node))
