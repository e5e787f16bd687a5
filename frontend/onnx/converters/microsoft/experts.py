"""Mixtures of experts: MoE, and QMoE, whose weights are small integers.

The output of a token is the sum of the outputs of its `k` experts, weighted by the router. A loop over the experts
computes an expert for all tokens if any token uses it: in a decoder, which has one token at a time, `k` experts run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.relay.structure.scope import IfOp
from xrelay.dialects.relay.structure.yields import YieldOp
from xrelay.dialects.shared.dtypes import numpy_dtype
from xrelay.frontend.onnx.bodies import Iteration, emit_loop
from xrelay.frontend.onnx.converters.microsoft.block_quantized import float32
from xrelay.frontend.onnx.converters.microsoft.expert_layers import ExpertLayer, GatedLayer, byte_layer, float_layer
from xrelay.frontend.onnx.node import NodeView
from xrelay.frontend.onnx.registry import MICROSOFT, converts
from xrelay.index_algebra.dims import certainly_differ

_ATTRIBUTES = (
    *("k", "activation_type", "activation_alpha", "activation_beta", "normalize_routing_weights"),
    *("swiglu_fusion", "swiglu_limit", "swiglu_limit_after_activation", "use_sparse_mixer"),
)
_BITS = ("expert_weight_bits", "fc1_expert_weight_bits", "fc2_expert_weight_bits", "fc3_expert_weight_bits")
_ROUTER_WEIGHTS = 14
"""The input of QMoE with the weights of the selected experts."""


@dataclass(frozen=True)
class _Routing:
    """The selected experts of each token, and their weights in the sum; both are (tokens, k)."""

    experts: SSAValue
    weights: SSAValue


@converts(
    "MoE",
    domain=MICROSOFT,
    attributes=_ATTRIBUTES,
    limits="relu2, geglu, sparse mixers, limits after the activation",
)
def convert_moe(node: NodeView) -> SSAValue:
    """MoE; a token uses the `k` largest weights of the softmax over all experts."""
    mixture = _Mixture.of(node, [float_layer(node, index, index + 1) for index in (2, 4, 6)])
    values, experts = mixture.largest(node, node.emit("nn.softmax", mixture.scores(node, 1), axis=1))
    return mixture.summed(node, _Routing(experts, _normalized(node, values)))


@converts(
    "QMoE",
    domain=MICROSOFT,
    attributes=(*_ATTRIBUTES, *_BITS, "block_size", "quant_type", "weights_prepacked", "accuracy_level"),
    limits="float, prepacked or 3-bit weights, and the limits of MoE",
)
def convert_qmoe(node: NodeView) -> SSAValue:
    """QMoE; the weights are the softmax over the `k` selected experts, or come from `router_weights`."""
    if node.attribute_string("quant_type", "int", ("int", "fp4", "nvfp4", "fp8", "wfp4afp8")) != "int":
        raise node.unsupported("weights that are floats of 4 or 8 bits are not supported")
    if node.attribute_int("weights_prepacked", -1, check=lambda value: value in (-1, 0, 1)) == 1:
        raise node.unsupported("weights in a layout of one processor are not supported")
    node.attribute_int("accuracy_level", 0)
    mixture = _Mixture.of(node, [byte_layer(node, number) for number in range(3)])
    values, experts = mixture.largest(node, mixture.scores(node, 1))
    if node.optional_input(_ROUTER_WEIGHTS) is None:
        return mixture.summed(node, _Routing(experts, node.emit("nn.softmax", values, axis=1)))
    given = node.emit("gather", mixture.scores(node, _ROUTER_WEIGHTS), experts, axis=1)
    return mixture.summed(node, _Routing(experts, _normalized(node, given)))


def _normalized(node: NodeView, weights: SSAValue) -> SSAValue:
    """The weights of each token, divided by their sum if the node requires it."""
    if not node.attribute_flag("normalize_routing_weights"):
        return weights
    return node.emit("divide", weights, node.emit("sum", weights, axis=(1,), keepdims=True))


@dataclass(frozen=True)
class _Mixture:
    """The experts of a node: two layers with an activation between them."""

    inner: GatedLayer
    outer: ExpertLayer

    @staticmethod
    def of(node: NodeView, layers: Sequence[ExpertLayer | None]) -> _Mixture:
        """Returns the layers FC1, FC2 and optionally FC3, after checks of their shapes."""
        first, second, third = layers
        if node.attribute_flag("use_sparse_mixer"):
            raise node.unsupported("sparse mixers are not supported")
        if first is None or second is None or len(node.shape(0)) not in (2, 3):
            raise node.error(f"tokens with the layers FC1 and FC2 are expected, found {node.input(0).type} as input #0")
        inner = GatedLayer.of(node, first, third)
        experts, _, width = first.shape
        wanted = (experts, width, inner.width)
        if second.shape != wanted or (third is not None and third.shape != first.shape):
            shapes = " and ".join(str(layer.shape) for layer in layers if layer is not None)
            raise node.error(f"the layers have the shapes {shapes}: of FC2 {wanted} is expected")
        if certainly_differ(node.last_extent(0), width) or certainly_differ(node.last_extent(1), experts):
            raise node.error(f"{node.input(0).type} and {node.input(1).type} for {experts} experts of width {width}")
        return _Mixture(inner, second)

    def scores(self, node: NodeView, index: int) -> SSAValue:
        """Returns input `index`, a number per token and expert, in f32; checks the number of tokens."""
        if len(node.shape(index)) != 2:
            raise node.error(f"input #{index} is {node.input(index).type}: tokens and experts are expected")
        given, rows = float32(node, node.input(index)), {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 1}
        return node.emit("reshape_like", given, self.tokens(node), **rows)

    def tokens(self, node: NodeView) -> SSAValue:
        """Returns the rows of the input in f32."""
        return node.emit("reshape", float32(node, node.input(0)), newshape=(-1, self.outer.shape[1]))

    def largest(self, node: NodeView, scores: SSAValue) -> tuple[SSAValue, SSAValue]:
        """Returns the `k` largest scores of each token, and their experts."""
        k, experts = node.attribute_int("k", 1), self.outer.shape[0]
        if not 1 <= k <= experts:
            raise node.illegal("k", k, f"a number from 1 to {experts} is expected")
        both = node.emit("topk", scores, k=k, axis=1, is_ascend=False, dtype="int64")
        return node.tuple_field(both, 0), node.tuple_field(both, 1)

    def summed(self, node: NodeView, routing: _Routing) -> SSAValue:
        """Returns the weighted sums of all tokens, in the shape and type of the input."""
        experts = self.outer.shape[0]
        tokens = self.tokens(node)

        def body(inner: NodeView, expert: SSAValue, sums: Sequence[SSAValue]) -> Iteration:
            hit = inner.emit("equal", routing.experts, expert)
            chosen = inner.emit("any", hit, axis=(1,), keepdims=True)
            weights = inner.emit("where", hit, routing.weights, inner.scalar(0.0, routing.weights))
            weight = inner.emit("sum", weights, axis=(1,), keepdims=True)

            def more(branch: NodeView) -> SSAValue:
                y = self.outer.apply(branch, self.inner.apply(branch, tokens, expert), expert)
                y = branch.emit("where", chosen, branch.emit("multiply", y, weight), branch.scalar(0.0, y))
                return branch.emit("add", sums[0], y)

            return Iteration(None, [_if(inner, inner.emit("any", chosen), more, sums[0])], [])

        count = node.emit_ints(experts, "experts")
        (total,) = emit_loop(node, count, None, [node.emit("zeros_like", tokens)], body)
        result = node.emit("reshape_like", total, node.input(0))
        return node.emit("cast", result, dtype=numpy_dtype(node.element_type(0)))


def _if(node: NodeView, condition: SSAValue, make: Callable[[NodeView], SSAValue], otherwise: SSAValue) -> SSAValue:
    """The result of `make` if `condition` holds, else `otherwise`."""
    branches = [node.inside(Block()) for _ in range(2)]
    for branch, value in zip(branches, (make(branches[0]), otherwise), strict=True):
        branch.graph.insert(YieldOp(value), node.name)
    regions = [Region(branch.graph.block) for branch in branches]
    return node.graph.insert(IfOp(condition, otherwise.type, *regions), node.name).result
