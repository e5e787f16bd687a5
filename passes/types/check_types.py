"""`relay-check-types`: rejects a module with an incomplete type or with a call whose dimensions are not bound.

It runs after `relay-infer-type`, because the following levels do not accept `!relay.incomplete`. It changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects.relay.structure.call import NamedCallOp
from xrelay.dialects.shared.locations import location_of
from xrelay.dialects.shared.op_lists import defined_values
from xrelay.dialects.shared.types import is_complete
from xrelay.errors import TypeInferenceError
from xrelay.passes.infra.verify import walk_ops
from xrelay.passes.infra.xrelay_pass import EXACT, XRelayPass
from xrelay.passes.types.type_solver import describe


def check_types(module: ModuleOp) -> None:
    """Raises `TypeInferenceError` for the first value of incomplete type or call without bindings in `module`."""
    for op in walk_ops(module):
        if isinstance(op, NamedCallOp) and op.bindings is None:
            raise TypeInferenceError(
                f"{op.name} does not bind the dimensions of {op.callee}",
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
class RelayCheckTypesPass(XRelayPass):
    """Rejects incomplete types (see the module's docstring)."""

    name = "relay-check-types"
    numerics = EXACT

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Checks the module."""
        check_types(op)
