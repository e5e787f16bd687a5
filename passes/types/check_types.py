"""`relay-check-types`: refuses a module in which a type, or what a call says of its callee's names, is still open.

Run after `relay-infer-type`, it guards the levels below, which know no `!relay.incomplete`. It changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.dialects.defined_values import defined_values
from xrelay.dialects.locations import location_of
from xrelay.dialects.relay.core.types import is_complete
from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.errors import TypeInferenceError
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.types.type_solver import describe


def check_types(module: ModuleOp) -> None:
    """Raise `TypeInferenceError` for the first value of `module` whose type is incomplete, or a call without names."""
    for op in walk_ops(module):
        if isinstance(op, NamedCallOp) and op.bindings is None:
            raise TypeInferenceError(
                f"{op.name} does not say what the dimensions of {op.callee} stand for",
                location=location_of(op),
                help="run relay-infer-type first",
            )
        for value in defined_values(op):
            if not is_complete(value.type):
                raise TypeInferenceError(
                    f"{describe(value)} has the incomplete type {value.type}",
                    location=location_of(op),
                    help="run relay-infer-type first",
                )


@dataclass(frozen=True)
class RelayCheckTypesPass(ModulePass):
    """Refuse incomplete types (see the module's docstring)."""

    name = "relay-check-types"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Check the module."""
        check_types(op)
