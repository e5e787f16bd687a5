"""Types of expressions that are not known yet, as patterns and `InferTypeLocal` ask for them: inferred on a copy."""

from __future__ import annotations

from contextlib import suppress

from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, OpResult, Region, SSAValue

from xrelay.dialects.relay.core.types import is_complete
from xrelay.errors import TypeInferenceError, XRelayError
from xrelay.passes.types.infer_type import infer_types
from xrelay.relay.copies import copy_into
from xrelay.relay.expr import ExprLike, as_value, block_for
from xrelay.relay.graph import detached, free_variables, post_order
from xrelay.relay.type_views import TypeView, type_view


def infer_type_local(expr: ExprLike) -> TypeView:
    """The type of an expression, of a function its function type; nothing is inferred that is known already.

    Raises `TypeInferenceError` where types contradict each other, or nothing decides this one.
    """
    value = as_value(expr)
    found = value.type if is_complete(value.type) else _inferred(value)[value]
    if not is_complete(found):
        raise TypeInferenceError(f"not enough is known to infer the type of {expr!r}", help="give its variables types")
    return type_view(found)


class InferredTypes:
    """The types of values and of all that they are computed from, inferred together when the first is asked for.

    Whoever asks for users before what they use has each value inferred once.
    """

    def __init__(self) -> None:
        self._known: dict[SSAValue, Attribute] = {}

    def of(self, value: SSAValue) -> Attribute | None:
        """The type of a value; None where nothing decides it, or the types contradict each other."""
        if is_complete(value.type):
            return value.type
        if value not in self._known:
            self._known[value] = value.type
            with suppress(XRelayError):
                self._known.update(_inferred(value))
        found = self._known[value]
        return found if is_complete(found) else None


def _inferred(root: SSAValue) -> dict[SSAValue, Attribute]:
    """The types of `root` and what it needs, from a function that computes it of its variables.

    Raises what inference raises.
    """
    variables = free_variables(root)
    values = [*variables, *(result for op in post_order(root) for result in op.results)]
    block = block_for(variables)
    copies = copy_into(block, [*values, root], dict(zip(variables, block.args, strict=True)))
    block.add_op(detached(ReturnOp(copies[-1])))
    type = FunctionType.from_lists(list(block.arg_types), [copies[-1].type])
    module = ModuleOp([FuncOp("inferred", type, Region(block))])
    infer_types(module)
    # Inference gives ops other results; the ops are the same.
    return {value: _type_now(copy) for value, copy in zip(values, copies[:-1], strict=True)}


def _type_now(copy: SSAValue) -> Attribute:
    """The type that inference found for a value: an argument or result of the same place."""
    if isinstance(copy, OpResult):
        return copy.op.results[copy.index].type
    return copy.owner.args[copy.index].type if isinstance(copy, BlockArgument) else copy.type
