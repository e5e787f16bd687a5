"""The builder: Relay programs written in Python.

    data = relay.var("data", shape=(1, 3, 224, 224))
    weight = relay.var("weight")
    y = relay.nn.relu(relay.nn.conv2d(data, weight, channels=32, kernel_size=(3, 3)))
    func = relay.Function(relay.analysis.free_vars(y), y)
    module = relay.IRModule.from_expr(func)

Each registered operator is a function here under Relay's name (`relay.add`, `relay.nn.conv2d`). Operands are
expressions, xDSL values, numbers or arrays. `relay.transform`, `relay.build` and `relay.op` are imported on first use.
"""

from __future__ import annotations

import typing
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from xrelay.dialects.relay.core.operator_value import register_operator_attributes
from xrelay.dialects.relay.core.registry import get_relay_op
from xrelay.relay import analysis, qnn
from xrelay.relay.binding import bind
from xrelay.relay.expr import Expr, ExprLike, Var, const, var
from xrelay.relay.function import Function, invoke
from xrelay.relay.module import IRModule, Module
from xrelay.relay.nodes import Attrs, Call, Constant, GlobalVar, If, Let, Op, Tuple, TupleGetItem, TupleWrapper, let
from xrelay.relay.operator_functions.calls import NoOperatorError, OpFunction, op_function, operator_attribute
from xrelay.relay.operators import annotation, image, nn, random, vision
from xrelay.relay.scope_builder import ScopeBuilder
from xrelay.relay.types import (
    Any,
    FuncType,
    IncompleteType,
    TensorType,
    TupleType,
    TypeFunctor,
    TypeMutator,
    TypeVar,
    TypeVisitor,
    scalar_type,
)
from xrelay.relay.visitor import ExprFunctor, ExprMutator, ExprVisitor

if TYPE_CHECKING:
    # The stub declares the operators with the types of their parameters.
    from xrelay.api.param_dict import load_param_dict, save_param_dict
    from xrelay.passes.infra.pass_context import PassContext
    from xrelay.relay import (
        backend,
        build_module,
        data_dep_optimization,
        dataflow_pattern,
        frontend,
        loops,
        op,
        quantize,
        testing,
        vm,
    )
    from xrelay.relay import types as ty
    from xrelay.relay import visitor as expr_functor
    from xrelay.relay.build_module import build, optimize
    from xrelay.relay.executor import create_executor
    from xrelay.relay.loops import while_loop
    from xrelay.relay.operators import *  # noqa: F403

    build_config = PassContext
    transform: ModuleType
    """`xrelay.relay.transform`, whose names are mostly those of `xrelay.transform`."""

__all__ = [
    "Any",
    "Attrs",
    "Call",
    "Constant",
    "Expr",
    "ExprFunctor",
    "ExprLike",
    "ExprMutator",
    "ExprVisitor",
    "FuncType",
    "Function",
    "GlobalVar",
    "IRModule",
    "If",
    "IncompleteType",
    "Let",
    "Module",
    "Op",
    "ScopeBuilder",
    "TensorType",
    "Tuple",
    "TupleGetItem",
    "TupleType",
    "TupleWrapper",
    "TypeFunctor",
    "TypeMutator",
    "TypeVar",
    "TypeVisitor",
    "Var",
    "analysis",
    "annotation",
    "astext",
    "backend",
    "bind",
    "build",
    "build_config",
    "build_module",
    "const",
    "create_executor",
    "data_dep_optimization",
    "dataflow_pattern",
    "expr_functor",
    "frontend",
    "get_relay_op",
    "image",
    "invoke",
    "let",
    "load_param_dict",
    "loops",
    "nn",
    "op",
    "op_function",
    "optimize",
    "qnn",
    "quantize",
    "random",
    "save_param_dict",
    "scalar_type",
    "testing",
    "transform",
    "ty",
    "var",
    "vision",
    "vm",
    "while_loop",
]

_MODULES = (
    "backend",
    "build_module",
    "data_dep_optimization",
    "dataflow_pattern",
    "frontend",
    "loops",
    "op",
    "quantize",
    "testing",
    "transform",
    "vm",
)
_LATE = {
    **{name: (f"xrelay.relay.{name}", "") for name in _MODULES},
    "build": ("xrelay.relay.build_module", "build"),
    "build_config": ("xrelay.transform", "PassContext"),
    "create_executor": ("xrelay.relay.executor", "create_executor"),
    "expr_functor": ("xrelay.relay.visitor", ""),
    "load_param_dict": ("xrelay.api.param_dict", "load_param_dict"),
    "optimize": ("xrelay.relay.build_module", "optimize"),
    "save_param_dict": ("xrelay.api.param_dict", "save_param_dict"),
    "ty": ("xrelay.relay.types", ""),
    "while_loop": ("xrelay.relay.loops", "while_loop"),
}
"""Names that are imported on first use: name → (module, name in it, or "" for the module itself)."""

_DATA_TYPES = "there are no algebraic data types", "use tuples, and relay.while_loop for lists"
_REFERENCES = (
    "there are no references to write through",
    "return the changed value, or carry it through relay.while_loop",
)
_TEXT = "Relay's text format is not supported", "xrelay.parse reads the text of str(module)"

_ABSENT: dict[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("Clause", "Constructor", "GlobalTypeVar", "Match", "Prelude", "TypeCall", "TypeData"), _DATA_TYPES
    ),
    **dict.fromkeys(
        ("PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard", "adt", "prelude"), _DATA_TYPES
    ),
    **dict.fromkeys(("RefCreate", "RefRead", "RefType", "RefWrite"), _REFERENCES),
    **dict.fromkeys(("fromtext", "parse", "parse_expr", "parser"), _TEXT),
}
"""Names of Relay that xrelay does not have → (the reason, the alternative)."""

register_operator_attributes(lambda: import_module("xrelay.relay.op.attributes"))


def astext(expr: Expr | IRModule, show_meta_data: bool = True) -> str:
    """Returns the program of an expression, a function or a module as text."""
    return expr.astext(show_meta_data)


def __getattr__(name: str) -> OpFunction:
    """Returns an attribute that is imported on first use, or the operator of this name as a function."""
    if name in _LATE:
        # The imports under TYPE_CHECKING declare the types of these names.
        module, member = _LATE[name]
        found: typing.Any = import_module(module)
        return getattr(found, member) if member else found
    if name.startswith("_"):
        raise AttributeError(name)
    if name in _ABSENT:
        reason, hint = _ABSENT[name]
        raise NoOperatorError(f"relay.{name} does not exist: {reason}", help=hint)
    return operator_attribute(name)
