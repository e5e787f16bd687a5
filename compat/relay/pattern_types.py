"""Infers incomplete types of expressions for patterns and `InferTypeLocal`, on a copy."""

from __future__ import annotations

from contextlib import suppress

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, OpResult, Region, SSAValue

from xrelay.dialects.shared.types import is_complete
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.copies import copy_into
from xrelay.relay.expr import ExprLike, as_value, block_for
from xrelay.relay.graph import detached, free_variables, post_order
from xrelay.relay.type_views import TypeView, type_view


def infer_type_local(expr: ExprLike) -> TypeView:
    """Returns the type of an expression, for a function its function type. Infers only if the type is incomplete.

    Raises `TypeInferenceError` if types contradict each other, or do not determine this one.
    """
    value = as_value(expr)
    found = value.type if is_complete(value.type) else _inferred(value)[value]
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
                self._known.update(_inferred(value))
        found = self._known[value]
        return found if is_complete(found) else None


def _inferred(root: SSAValue) -> dict[SSAValue, Attribute]:
    """Infers the types of `root` and the values it needs, in a function of its free variables.

    Raises the errors of type inference.
    """
    variables = free_variables(root)
    values = [*variables, *(result for op in post_order(root) for result in op.results)]
    block = block_for(variables)
    copies = copy_into(block, [*values, root], dict(zip(variables, block.args, strict=True)))
    block.add_op(detached(ReturnOp(copies[-1])))
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
