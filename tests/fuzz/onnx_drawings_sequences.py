"""Draws random nodes of recurrent networks and other ops along sequences, and of einsum."""

from __future__ import annotations

import numpy as np

from fuzz.onnx_draft import Draft, draws

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@draws("GRU", "LSTM", "RNN")
def recurrent(draft: Draft) -> None:
    times, batch, size, hidden = (draft.pick(1, 2, 3, 5) for _ in range(4))
    direction = draft.pick("forward", "reverse", "bidirectional")
    directions = 2 if direction == "bidirectional" else 1
    # onnxruntime's activations turn NaN into a number.
    domain = draft.pick("finite", "finite", "moderate")
    rows = GATES[draft.op] * hidden
    draft.data((times, batch, size), domain=domain)
    draft.data((directions, rows, size), domain=domain, constant=0.7)
    draft.data((directions, rows, hidden), domain=domain, constant=0.7)
    states = 2 if draft.op == "LSTM" else 1
    given = [draft.chance(0.5) for _ in range(2 + states + (draft.op == "LSTM"))]
    shapes = [(directions, 2 * rows), (batch,), *[(directions, batch, hidden)] * states, (directions, 3 * hidden)]
    for index, present in enumerate(given):
        if not present:
            draft.absent()
        elif index == 1:
            draft.data(shapes[index], np.int32, f"whole 1 {times + 1}")
        else:
            draft.data(shapes[index], domain=domain)
    draft.attributes |= {"hidden_size": hidden, "direction": direction}
    draft.outputs = 1 + states
    if draft.op == "GRU":
        draft.maybe(linear_before_reset=1)


@draws("Einsum")
def einsum(draft: Draft) -> None:
    extents = {label: draft.pick(1, 2, 3, 5) for label in "bijk"}
    equation = draft.pick("ij->ji", "ii->i", "bij,bjk->bik", "ij,ij->", "i,j", "bi,bj,bk->ijk", "...i,i->...")
    domain = "small" if draft.dtype.kind in "iu" else "finite"
    for term in equation.partition("->")[0].split(","):
        draft.data(tuple(extents[label] for label in term.replace("...", "b")), domain=domain)
    draft.attributes["equation"] = equation
