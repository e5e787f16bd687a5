"""Counts the layers of a network: operators of given kinds along its longest path."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError
from xrelay.relay.attrs import Op
from xrelay.relay.expr import Expr
from xrelay.relay.function import Function
from xrelay.relay.nodes import Call, parts, post_order_visit


def count_layers(expr: Expr | ModuleOp, valid_ops: Collection[str]) -> int:
    """Returns the most operators with a name in `valid_ops` on a path of an expression, or of `@main`.

    Operators on parallel paths are not added up. Raises `InputError` for a module without `@main`.
    """
    root = _main(expr) if isinstance(expr, ModuleOp) else expr
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


def _main(module: ModuleOp) -> Function:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main":
            return Function.of_func(op)
    raise InputError("the module has no function @main", help="pass a function")
