"""`detect_feature`: which features of the language a program uses."""

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
"""The features that a program may have, with Relay's names and numbers; those of references and data types no program
here has. `fGraph`: an expression that is no variable, constant or name of a function is used in several places.
`fLetRec`: a function that a let binds calls itself."""

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
    """The features that an expression uses, or all functions of a module; of one of each, those of both together.

    `InputError` for two expressions or two modules.
    """
    given = [one for one in (a, b) if one is not None]
    if len({isinstance(one, ModuleOp) for one in given}) < len(given):
        raise InputError("detect_feature takes an expression, a module, or one of each")
    found: set[Feature] = set()
    for root in _roots(given):
        _detect(root, found)
    return found


def _roots(given: list[Expr | ModuleOp]) -> list[Expr]:
    """The expressions to look through."""
    roots: list[Expr] = []
    for one in given:
        if isinstance(one, Expr):
            roots.append(one)
        else:
            functions = [op for op in one.ops if isinstance(op, FuncOp) and not op.is_declaration]
            roots += [Function.of_func(op) for op in functions]
    return roots


def _detect(root: Expr, found: set[Feature]) -> None:
    """Note the features of what `root` consists of; iterative."""
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
