"""Draws random nodes of onnxruntime's layers with many weights: mixtures of experts, recurrent layers of bytes."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft
from fuzz.onnx_drawings_microsoft import draws_own, rows_and_hidden


@draws_own("QEmbedLayerNormalization")
def embeddings_of_bytes(draft: Draft) -> None:
    batch, places, hidden = rows_and_hidden(draft)
    kind, segments = np.dtype(draft.pick(np.int8, np.uint8)), draft.chance(0.5)
    draft.data((batch, places), np.int32, "whole 0 9")
    if segments:
        draft.data((batch, places), np.int32, "whole 0 2")
    else:
        draft.absent()
    given = [True, True, segments, True, True]
    for present, shape in zip(given, [(9, hidden), (6, hidden), (2, hidden), (hidden,), (hidden,)], strict=True):
        if present:
            draft.data(shape, kind, constant=0.8)
        else:
            draft.absent()
    if draft.chance(0.5):
        draft.data((batch, places), np.int32, "whole 0 2")
    else:
        draft.absent()
    for dtype in (np.dtype(np.float32), kind):
        for present in given:
            if present:
                draft.setting(draft.rng.uniform(0.01, 0.1) if dtype.kind == "f" else draft.integer(0, 100), dtype)
            else:
                draft.absent()
    draft.outputs = 2


@draws_own("MoE")
def mixture(draft: Draft) -> None:
    draft.dtype = np.dtype(np.float32)
    experts, hidden, inner = _tokens_and_scores(draft)
    gated = _activation(draft)
    for rows, columns in ((inner * (2 if gated else 1), hidden), (hidden, inner)):
        draft.data((experts, rows, columns), domain="finite", constant=0.7)
        if draft.chance(0.7):
            draft.data((experts, rows), domain="finite", constant=0.7)
        else:
            draft.absent()


@draws_own("QMoE")
def mixture_of_bytes(draft: Draft) -> None:
    bits, size = draft.pick(2, 4, 8), draft.pick(0, 16)
    draft.dtype = np.dtype(np.float32)
    experts, hidden, inner = _tokens_and_scores(draft)
    gated = _activation(draft)
    draft.attributes["expert_weight_bits"] = bits
    if size:
        draft.attributes["block_size"] = size
    for rows, columns in ((inner * (2 if gated else 1), hidden), (hidden, inner)):
        draft.setting(draft.rng.integers(0, 256, (experts, rows, columns * bits // 8)), np.uint8)
        draft.setting(draft.rng.random((experts, rows, columns // size) if size else (experts, rows)), np.float32)
        if draft.chance(0.7):
            draft.data((experts, rows), domain="finite", constant=0.7)
        else:
            draft.absent()


def _tokens_and_scores(draft: Draft) -> tuple[int, int, int]:
    """Draws these inputs; returns the number of experts and the widths of their two layers."""
    tokens, experts = draft.pick(1, 2, 5), draft.pick(2, 3, 8)
    hidden, inner = draft.pick(16, 32), draft.pick(16, 32)
    draft.data(draft.pick((tokens, hidden), (1, tokens, hidden)), domain="finite")
    draft.data((tokens, experts), domain="finite")
    draft.attributes["k"] = draft.integer(1, 2)
    draft.maybe(normalize_routing_weights=1)
    return experts, hidden, inner


def _activation(draft: Draft) -> bool:
    """Draws the activation; returns whether the first layer also contains a gate."""
    kind = draft.pick("relu", "gelu", "silu", "identity", "swiglu")
    draft.attributes["activation_type"] = kind
    if kind == "swiglu":
        draft.attributes |= {"swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0, "swiglu_limit": 1.0}
    return kind == "swiglu"


@draws_own("DynamicQuantizeLSTM")
def recurrent_of_bytes(draft: Draft) -> None:
    times, batch, size, hidden = (draft.pick(1, 2, 3, 5) for _ in range(4))
    direction = draft.pick("forward", "reverse", "bidirectional")
    directions, gates = 2 if direction == "bidirectional" else 1, 4 * hidden
    kind, each = np.dtype(draft.pick(np.int8, np.uint8)), draft.pick((directions,), (directions, gates))
    draft.data((times, batch, size), np.float32, domain="finite")
    low, high = (-127, 128) if kind == np.int8 else (0, 256)
    for rows in (size, hidden):
        draft.setting(draft.rng.integers(low, high, (directions, rows, gates)), kind)
    states = (directions, batch, hidden)
    for index, shape in enumerate([(directions, 2 * gates), (batch,), states, states, (directions, 3 * hidden)]):
        if draft.chance(0.5):
            draft.absent()
        elif index == 1:
            draft.data(shape, np.int32, f"whole 1 {times + 1}")
        else:
            draft.data(shape, np.float32, domain="finite")
    for _ in range(2):
        draft.setting(draft.rng.uniform(0.002, 0.006, each), np.float32)
        draft.setting(np.full(each, 0 if kind == np.int8 else 120), kind)
    draft.attributes |= {"hidden_size": hidden, "direction": direction}
    draft.outputs = 3
