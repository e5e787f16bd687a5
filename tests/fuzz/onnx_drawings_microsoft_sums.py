"""Draws random nodes of onnxruntime's own operators that fuse sums with the ops after them."""

from __future__ import annotations

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
