"""Draws random nodes of onnxruntime's attention: heads, packed or separate, with masks, biases and caches."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft
from fuzz.onnx_drawings_microsoft import draws_own


def _given(draft: Draft, shape: tuple[int, ...], probability: float) -> bool:
    """Adds an operand with the given probability, otherwise omits it."""
    if draft.chance(probability):
        draft.data(shape, domain="finite")
        return True
    draft.absent()
    return False


def _mask(draft: Draft, batch: int, queries: int, keys: int) -> None:
    """Adds a mask: none, lengths, ends and starts, or flags for keys or pairs."""
    form = draft.integer(0, 4)
    if form == 0:
        draft.absent()
    elif form < 3:
        draft.data((batch * form,), np.int32, f"whole 0 {keys + 1}")
    else:
        draft.data((batch, keys) if form == 3 else (batch, queries, keys), np.int32, "whole 0 2")


@draws_own("Attention")
def attention(draft: Draft) -> None:
    batch, places, size, heads = (draft.pick(1, 2), draft.pick(1, 3, 4), draft.pick(1, 6), draft.pick(1, 2, 3))
    wide = heads * draft.pick(1, 2, 4)
    past = draft.pick(0, 0, 3)
    value = wide if past else heads * draft.pick(wide // heads, 3)
    draft.data((batch, places, size), domain="finite")
    draft.data((size, 2 * wide + value), domain="finite", constant=0.5)
    _given(draft, (2 * wide + value,), 0.7)
    _mask(draft, batch, places, past + places)
    if past:
        draft.data((2, batch, heads, past, wide // heads), domain="finite")
        draft.outputs = 2
    else:
        draft.absent()
    _given(draft, (draft.pick(1, batch), heads, places, past + places), 0.3)
    draft.attributes["num_heads"] = heads
    if value != wide:
        draft.attributes["qkv_hidden_sizes"] = [wide, wide, value]
    draft.maybe(unidirectional=draft.integer(0, 1), scale=0.3)


@draws_own("QAttention")
def quantized_attention(draft: Draft) -> None:
    batch, places, size, heads = (draft.pick(1, 2), draft.pick(1, 3, 4), draft.pick(1, 6), draft.pick(1, 2, 3))
    wide = heads * draft.pick(1, 4)
    past = draft.pick(0, 0, 3)
    weight = np.dtype(draft.pick(np.int8, np.uint8))
    draft.data((batch, places, size), np.uint8)
    draft.data((size, 3 * wide), weight, constant=0.7)
    draft.data((3 * wide,), np.float32, domain="finite")
    draft.setting(0.02, np.float32)
    draft.setting(0.03, np.float32)
    _mask(draft, batch, places, past + places)
    draft.setting(draft.integer(0, 255), np.uint8)
    draft.setting(draft.integer(0, 127), weight)
    if past:
        draft.data((2, batch, heads, past, wide // heads), np.float32, domain="finite")
        draft.outputs = 2
    draft.attributes["num_heads"] = heads
    draft.maybe(unidirectional=draft.integer(0, 1))


@draws_own("MultiHeadAttention")
def multi_head_attention(draft: Draft) -> None:
    batch, queries, keys, heads = (draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 3, 5), draft.pick(1, 2, 3))
    width, past = draft.pick(1, 4), draft.pick(0, 0, 4)
    other = width if past else draft.pick(width, 3)
    sizes = [heads * width, heads * width, heads * other]
    if past:
        keys = queries
    for length, size in zip((queries, keys, keys), sizes, strict=True):
        draft.data((batch, length, size), domain="finite")
    _given(draft, (sum(sizes),), 0.0 if past else 0.4)
    masked = not past and draft.chance(0.4)
    if masked:
        draft.data((batch, keys), np.int32, "whole 0 2")
    else:
        draft.absent()
    _given(draft, (draft.pick(1, batch), heads, queries, past + keys), 0.3)
    if past:
        draft.data((batch, heads, past, width), domain="finite")
        draft.data((batch, heads, past, width), domain="finite")
        draft.outputs = 3
    draft.attributes["num_heads"] = heads
    draft.maybe(scale=0.3, unidirectional=draft.integer(0, 1))


@draws_own("GroupQueryAttention")
def grouped_attention(draft: Draft) -> None:
    batch, shared, share, width = draft.pick(1, 2), draft.pick(1, 2), draft.pick(1, 2, 3), draft.pick(8, 16)
    past, new = draft.pick((0, 4), (0, 1), (3, 1), (5, 1))
    packed, rotary = draft.chance(0.3), draft.integer(0, 1)
    sizes = (share * shared * width, shared * width, shared * width)
    if packed:
        draft.data((batch, new, sum(sizes)), domain="finite")
        draft.absent()
        draft.absent()
    else:
        for size in sizes:
            draft.data((batch, new, size), domain="finite")
    for _ in range(2):
        draft.data((batch, shared, past, width), domain="finite")
    draft.setting(np.full(batch, past + new - 1), np.int32)
    draft.setting(past + new, np.int32)
    if rotary:
        for _ in range(2):
            draft.data((16, width // 2), domain="finite")
    draft.outputs = 3
    draft.attributes |= {"num_heads": share * shared, "kv_num_heads": shared, "do_rotary": rotary}
    if draft.chance(0.3):
        for _ in range(0 if rotary else 2):
            draft.absent()
        draft.absent()
        draft.data((draft.pick(1, batch), draft.pick(1, share * shared), new, past + new), domain="finite")
        if draft.chance(0.5):
            draft.data((share * shared,), domain="finite")
    else:
        draft.maybe(smooth_softmax=1)
    draft.maybe(local_window_size=draft.pick(-1, 1, 2), softcap=2.0, scale=0.3)
    if rotary:
        draft.maybe(rotary_interleaved=1)


@draws_own("MRotaryEmbedding")
def rotary_embedding_of_images(draft: Draft) -> None:
    batch, places, heads = draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 2)
    sections = [draft.pick(1, 2), draft.pick(0, 1, 2), draft.pick(0, 1)]
    layout = draft.integer(0, 1)
    if layout:
        sections = draft.pick([1, 1, 1], [2, 1, 1], [3, 2, 2])
    width = 2 * sum(sections)
    flat = draft.chance(0.5)
    draft.data((batch, places, heads * width) if flat else (batch, heads, places, width), domain="finite")
    draft.data((3, batch, places), np.int64, "whole 0 8")
    for _ in range(2):
        draft.data((9, width // 2), domain="finite", constant=0.5)
    draft.attributes |= {"mrope_section": sections, "mrope_layout": layout, "num_heads": heads}
    draft.maybe(interleaved=draft.integer(0, 1))


@draws_own("RotaryEmbedding")
def rotary_embedding(draft: Draft) -> None:
    batch, places, heads, width = draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 2), draft.pick(2, 4, 8)
    form = draft.pick("heads", "partial", "flat")
    flat = (batch, places, heads * width)
    draft.data((batch, heads, places, width) if form == "heads" else flat, domain="finite")
    draft.data(draft.pick((batch, places), (1,)), np.int64, f"whole 0 {9 - places}")
    turned = width // draft.pick(1, 2) // 2 * 2 or 2
    if form != "partial":
        turned = width
    else:
        draft.attributes["rotary_embedding_dim"] = turned
    if form != "heads":
        draft.attributes["num_heads"] = heads
    for _ in range(2):
        draft.data((9, turned // 2), domain="finite", constant=0.5)
    draft.maybe(interleaved=draft.integer(0, 1))


@draws_own("RelativePositionBias")
def bins_of_distances(draft: Draft) -> None:
    length = draft.pick(1, 2, 9)
    draft.data((draft.pick(4, 8), draft.pick(1, 3)), domain="finite")
    for _ in range(2):
        draft.setting([length], np.int64)
    draft.attributes |= {"max_distance": draft.pick(8, 20), "is_bidirectional": draft.integer(0, 1)}


@draws_own("GatedRelativePositionBias")
def gated_bias(draft: Draft) -> None:
    batch, places, heads, width = draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 2), draft.pick(1, 4)
    columns = 2 * draft.pick(1, 4)
    hidden = heads * width
    shapes = ((batch, places, hidden), (hidden,), (1, heads, places, places), (width, columns), (columns,))
    for shape in (*shapes, (1, heads, 1, 1)):
        draft.data(shape, domain="finite")
    draft.attributes["num_heads"] = heads


@draws_own("DecoderMaskedMultiHeadAttention")
def decoder_attention(draft: Draft) -> None:
    batch, heads, width, places = draft.pick(1, 2), draft.pick(1, 3), draft.pick(1, 4), draft.pick(2, 6)
    draft.data((batch, 1, heads * width), domain="finite")
    draft.attributes["num_heads"] = heads
    if draft.chance(0.3):
        for _ in range(2):
            draft.data((batch, heads, places, width), domain="finite")
        return
    for _ in range(2):
        draft.data((batch, 1, heads * width), domain="finite")
    past = draft.integer(0, places - 1)
    draft.absent()
    _given(draft, (batch, heads, 1, past + 1), 0.3)
    for _ in range(2):
        draft.data((batch, heads, places, width), domain="finite")
    draft.setting([past], np.int32)
    draft.attributes["past_present_share_buffer"] = 1
    draft.outputs = 3
