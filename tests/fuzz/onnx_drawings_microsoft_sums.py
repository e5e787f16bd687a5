"""Draws random nodes of onnxruntime's own operators that fuse sums and gates with the ops after them."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft
from fuzz.onnx_drawings_microsoft import draws_own, rows_and_hidden
from fuzz.onnx_drawings_nn import image, kernel_of, window


@draws_own("BiasSoftmax")
def softmax_of_sum(draft: Draft) -> None:
    shape = (draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 4), draft.pick(1, 5, 8))
    inner = draft.integer(0, 1)
    draft.data(shape, domain="finite")
    draft.data((shape[0], 1, 1, shape[3]) if inner else (1, 1, *shape[2:]), domain="finite")
    draft.attributes |= {"axis": draft.pick(3, -1), "is_inner_broadcast": inner}


@draws_own("BiasAdd")
def sum_of_three(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    for shape in ((batch, places, hidden), (hidden,), (batch, places, hidden)):
        draft.data(shape, domain="finite")


@draws_own("BiasSplitGelu")
def gelu_of_half(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    draft.data((batch, places, 2 * hidden), domain="finite")
    draft.data((2 * hidden,), domain="finite")


@draws_own("NhwcConv", "NhwcFusedConv")
def convolution_of_last_channels(draft: Draft) -> None:
    n, c, h, w = image(draft)
    kernel, filters = kernel_of(draft, 2), draft.pick(1, 2, 4)
    draft.data((n, h, w, c), domain="finite")
    draft.data((filters, c, *kernel) if "Fused" in draft.op else (filters, *kernel, c), domain="finite", constant=0.5)
    if draft.chance(0.5):
        draft.data((filters,), domain="finite")
    window(draft, kernel, dilations=True)
    if "Fused" in draft.op:
        draft.maybe(activation=draft.pick("Relu", "Tanh"))


@draws_own("GatedRMSNorm")
def gated_norm(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    shape = (batch, places, hidden * draft.pick(1, 3))
    for each in (shape, (hidden,), shape):
        draft.data(each, domain="finite")
    draft.maybe(activation=draft.pick("silu", "swish", "sigmoid"), epsilon=0.1)


@draws_own("GatedAdd")
def gated_sum(draft: Draft) -> None:
    rows = rows_and_hidden(draft)
    for shape in (rows, rows, (*rows[:2], 1)):
        draft.data(shape, domain="finite")


@draws_own("ScaledSiLU")
def scaled_silu(draft: Draft) -> None:
    draft.data(draft.shape(1), domain="finite")
    draft.attributes["alpha"] = draft.pick(0.5, 1.0, 2.0)


@draws_own("LinearAttentionGate")
def gate_of_linear_attention(draft: Draft) -> None:
    rows = rows_and_hidden(draft)
    draft.data(rows, domain="finite")
    for _ in range(2):
        draft.data(rows[2:], np.float32, domain="finite")
    if draft.chance(0.5):
        draft.data(rows, domain="finite")
        draft.outputs = 2


@draws_own("SwiGLU")
def swiglu(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    both = draft.chance(0.5)
    draft.data((batch, places, 2 * hidden if both else hidden), domain="finite")
    if not both:
        draft.data((batch, places, hidden), domain="finite")
    draft.maybe(activation_alpha=1.5, activation_beta=1.0, limit=0.5, round_activation=1)


@draws_own("LinearAttention")
def linear_attention(draft: Draft) -> None:
    batch, places, _ = rows_and_hidden(draft)
    shared, share, keys, values = draft.pick(1, 2), draft.pick(1, 2), draft.pick(1, 3, 4), draft.pick(1, 4)
    rule = draft.pick("linear", "gated", "delta", "gated_delta")
    for width in (share * shared * keys, shared * keys, shared * values):
        draft.data((batch, places, width), domain="small")
    draft.data((batch, shared, keys, values), domain="small")
    for needed, width in (("gated", draft.pick(shared, shared * keys)), ("delta", shared)):
        if needed in rule:
            draft.data((batch, places, width), domain="small")
        else:
            draft.absent()
    draft.outputs = 2
    draft.attributes |= {"q_num_heads": share * shared, "kv_num_heads": shared, "update_rule": rule}
    draft.maybe(scale=0.5)


@draws_own("CausalConvWithState")
def causal_convolution(draft: Draft) -> None:
    batch, places, channels = rows_and_hidden(draft)
    width = draft.pick(1, 2, 4)
    draft.data((batch, channels, places), domain="finite")
    draft.data((channels, 1, width), domain="finite")
    if draft.chance(0.5):
        draft.data((channels,), domain="finite")
    else:
        draft.absent()
    if draft.chance(0.5):
        draft.data((batch, channels, width - 1), domain="finite")
    draft.outputs = 2
    draft.maybe(activation=draft.pick("silu", "swish", "none"))
