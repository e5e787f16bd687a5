"""`relay-first-order-gradient`: makes functions return their results and the gradients of their parameters.

Each function f of the graph then returns `(f(x, …), (df/dx, …))`. df/dx is the gradient of the sum of all elements of
the result, and has the type of the parameter x. Several results become a tuple. Forward and backward pass
are one function, because the backward pass reads values of the forward pass; later passes simplify, fuse and plan it as
any other. `docs/gradient.md` has details.

Before:

    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      func.return %y : tensor<4xf32>
    }

After:

    func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tuple<tensor<4xf32>>) {
      %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
      %o = relay.ones_like(%y) : (tensor<4xf32>) -> tensor<4xf32>
      %g = relay.multiply(%o, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %t = relay.tuple(%g) : (tensor<4xf32>) -> tuple<tensor<4xf32>>
      func.return %y, %t : tensor<4xf32>, tuple<tensor<4xf32>>
    }

Calls of functions and closures are inlined first, as by `relay-inline`, which removes private functions that are only
called. Each remaining function is differentiated separately.

Raises `PassError` with the location for ops without a rule between a parameter and the result, such as loops and calls
that are not inlined; for parameters and results other than (tuples of) tensors; and for unknown types. Kernels and
functions without a body are not changed.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from xrelay.passes.functions.inline import SEALED, inline_calls
from xrelay.passes.gradient.differentiate import differentiate
from xrelay.passes.infra.xrelay_pass import XRelayPass, changes


@dataclass(frozen=True)
class RelayFirstOrderGradientPass(XRelayPass):
    """Makes functions return the gradients of their parameters; see the module's docstring."""

    name = "relay-first-order-gradient"
    numerics = changes("functions also return the gradients of their parameters")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Differentiates the functions of the module in place."""
        inline_calls(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration and not SEALED & function.attributes.keys():
                differentiate(function)
