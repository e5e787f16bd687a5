"""`detect_feature`: the language features that a program uses."""

from __future__ import annotations

from enum import IntEnum

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.errors import InputError
from xrelay.relay.attrs import Op
from xrelay.relay.expr import Expr, Var
from xrelay.relay.function import Function
from xrelay.relay.nodes import Call, Constant, GlobalVar, If, Let, Tuple, TupleGetItem, parts

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
            functions = [op for op in one.ops if isinstance(op, FuncOp) and not op.is_declaration]
            roots += [Function.of_func(op) for op in functions]
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
