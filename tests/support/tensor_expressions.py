"""Interprets tensor expressions as plain and as scheduled loop nests, and compares the two."""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from xrelay import te
from xrelay.interpreters.loop import run_loop_module
from xrelay.transform import create_pass


def computed(module: ModuleOp, *inputs: np.ndarray) -> list[np.ndarray]:
    """Returns the results of @main."""
    module.verify()
    plain = run_loop_module(module, "main", list(inputs))
    scheduled = run_loop_module(create_pass("loop-apply-schedules")(module), "main", list(inputs))
    for one, other in zip(plain, scheduled, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5)
    return scheduled


def value_of(
    tensor: te.Tensor, *given: tuple[te.Tensor, np.ndarray], schedule: te.Schedule | None = None
) -> np.ndarray:
    """The value of a tensor for values of placeholders."""
    schedule = te.create_schedule(tensor.op) if schedule is None else schedule
    return computed(te.lower(schedule, [*(one for one, _ in given), tensor]), *(array for _, array in given))[0]
