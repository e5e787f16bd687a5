"""`relay-fast-math`: replaces exponentials, error functions, hyperbolic tangents and softmaxes by faster ones.

`exp`, `erf`, `tanh` and `nn.softmax` become `fast_exp`, `fast_erf`, `fast_tanh` and `nn.fast_softmax`, which evaluate
short polynomials. The pass is for programs that need only six digits: results differ by about 1e-6, exponentials by a
relative error of up to 5e-6. No opt level includes it. It runs only by name: with `required_pass=["FastMath"]`, with
`xrelay-opt -p relay-fast-math`, or as part of a `Sequential`.

Before:

    %y = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.nn.softmax(%y) {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>

After:

    %y = relay.fast_exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %z = relay.nn.fast_softmax(%y) {axis = 0} : (tensor<4xf32>) -> tensor<4xf32>

Ops that only contain such functions, as `sigmoid` and `nn.gelu`, are not changed. For f64 the fast functions are the
exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.ops.nn.softmax import FastSoftmaxOp, SoftmaxOp
from xrelay.dialects.relay.ops.tensor.fast_math import FastErfOp, FastExpOp, FastTanhOp
from xrelay.dialects.relay.ops.tensor.unary import ErfOp, ExpOp, TanhOp
from xrelay.passes.graph.rewriting import Emitter, rewrite
from xrelay.passes.infra.xrelay_pass import XRelayPass, reassociates

FAST: MappingProxyType[type[Operation], type[RelayOp]] = MappingProxyType(
    {ExpOp: FastExpOp, ErfOp: FastErfOp, TanhOp: FastTanhOp, SoftmaxOp: FastSoftmaxOp}
)
"""Op class → the class of its fast version."""


@dataclass(frozen=True)
class RelayFastMathPass(XRelayPass):
    """Replaces `exp`, `erf`, `tanh` and `nn.softmax` by fast versions; see the module's docstring."""

    name = "relay-fast-math"
    numerics = reassociates("exp, erf, tanh and softmax become polynomials of few terms")
    per_function = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Rewrites the module in place."""
        rewrite(op, dict.fromkeys(FAST, UseFastFunction()))


class UseFastFunction(RewritePattern):
    """Replaces a function by its fast version with the same properties and type. Not exact.

    Before:

        %y = relay.tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>

    After:

        %y = relay.fast_tanh(%x) : (tensor<4xf32>) -> tensor<4xf32>
    """

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Rewrites an op of any type, even if the type is not inferred yet."""
        fast = FAST[type(op)].create(
            operands=op.operands,
            result_types=op.result_types,
            properties=op.properties,
            attributes=op.attributes,
        )
        emit = Emitter(rewriter, op)
        emit.replace(emit.insert(fast).results[0])
