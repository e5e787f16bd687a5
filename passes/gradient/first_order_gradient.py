"""`relay-first-order-gradient`: functions give their results and the gradients of their parameters.

What: each function f of the graph becomes one that gives `(f(x, …), (df/dx, …))`, where df/dx is the gradient of the
sum of all elements of the result, of the type of the parameter x; one of several results gives the tuple of them.
Why this way: the backward pass reads values of the forward pass where it needs them, so they are one function, which
later passes simplify, fuse and plan as any other. `docs/gradient.md` says more.

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

Calls of functions and closures are inlined first, as `relay-inline` does it, so a private function that is only called
goes. Each function that is left is differentiated by itself.

Refuses (`PassError`, with place): ops without a rule on the way from a parameter to the result, such as loops and calls
that stay; parameters and results that are no tensors or tuples of such; types that are not known. Left alone: kernels
and functions without a body.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from xrelay.passes.gradient.differentiate import differentiate
from xrelay.passes.relay.inline import SEALED, inline_calls


@dataclass(frozen=True)
class RelayFirstOrderGradientPass(ModulePass):
    """Let functions give the gradients of their parameters too; see the module's docstring."""

    name = "relay-first-order-gradient"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Differentiate the functions of the module in place."""
        inline_calls(op)
        for function in op.body.block.ops:
            if isinstance(function, FuncOp) and not function.is_declaration and not SEALED & function.attributes.keys():
                differentiate(function)
