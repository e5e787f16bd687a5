"""Draws random nodes of onnxruntime's layers with weights in bytes: embeddings and recurrent layers."""

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
