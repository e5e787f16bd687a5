"""`relay-fast-math`: replaces exponentials, error functions, hyperbolic tangents and softmaxes by faster ones.

What: `exp`, `erf`, `tanh` and `nn.softmax` become `fast_exp`, `fast_erf`, `fast_tanh` and `nn.fast_softmax`, which are
polynomials of few terms. Why: a program that can do with six digits says so here; no level does it by itself, but
whoever asks for the pass by name, with `required_pass=["FastMath"]`, `xrelay-opt -p relay-fast-math`, or a
`Sequential` that holds it. Re-associating: results differ by about 1e-6, an exponential by up to 5e-6 of itself.

Before:

    %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.nn.softmax(%y) {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>

After:

    %y = relay.fast_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.nn.fast_softmax(%y) {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>

Left alone: ops that compute such functions among others, as `sigmoid` and `nn.gelu`. Of f64 the fast functions are the
exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.fast_math import FastErfOp, FastExpOp, FastSoftmaxOp, FastTanhOp
from xrelay.dialects.relay.ops.nn_activation import SoftmaxOp
from xrelay.dialects.relay.ops.tensor.unary import ErfOp, ExpOp, TanhOp
from xrelay.passes.graph.rewriting import Emitter, rewrite

FAST: MappingProxyType[type[Operation], type[RelayOp]] = MappingProxyType(
    {ExpOp: FastExpOp, ErfOp: FastErfOp, TanhOp: FastTanhOp, SoftmaxOp: FastSoftmaxOp}
)
"""An op → the one that takes its place."""


@dataclass(frozen=True)
class RelayFastMathPass(ModulePass):
    """Replace `exp`, `erf`, `tanh` and `nn.softmax` by fast ones; see the module's docstring."""

    name = "relay-fast-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrite the module in place."""
        rewrite(op, dict.fromkeys(FAST, UseFastFunction()))


class UseFastFunction(RewritePattern):
    """A function → the fast one, with the same properties and type. Re-associating.

    Before:

        %y = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>

    After:

        %y = relay.fast_tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Whatever its type is, also where it is not known yet."""
        fast = FAST[type(op)].create(
            operands=op.operands,
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        emit = Emitter(rewriter, op)
        emit.replace(emit.insert(fast).results[0])
