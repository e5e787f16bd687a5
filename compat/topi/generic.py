"""Schedules for families of computes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from xrelay import te
from xrelay.target import Target
from xrelay.te.schedule import Schedule
from xrelay.te.tensor import Tensor
from xrelay.topi.utils import is_empty_shape


def schedule_injective_from_existing(sch: Schedule, out: Tensor) -> Schedule:
    """Parallelises the outer axes of an output: three of rank 5 and above, two of rank 3 and 4, else one."""
    stage = sch[out]
    axes = list(stage.op.axis)
    if axes and axes[0] in stage.leaf_iter_vars:
        outer = axes[: 3 if len(axes) >= 5 else 2 if len(axes) >= 3 else 1]
        outer = [axis for axis in outer if axis in stage.leaf_iter_vars]
        stage.parallel(stage.fuse(*outer) if len(outer) > 1 else outer[0])
    elif axes:
        stage.parallel(stage.leaf_iter_vars[0])
    return sch


def schedule_injective(outs: Tensor | Sequence[Tensor]) -> Schedule:
    """Inlines injective computes; in each output, vectorises the innermost axis and parallelises outer axes.

    The number of lanes is that of the entered target, else of this machine.
    """
    tensors = [outs] if isinstance(outs, Tensor) else list(outs)
    s = te.create_schedule([tensor.op for tensor in tensors])
    te.AutoInlineInjective(s)
    for tensor in tensors:
        if is_empty_shape(tensor.shape) or not tensor.shape:
            continue
        _, inner = s[tensor].split(s[tensor].op.axis[-1], factor=_lanes(tensor))
        s[tensor].vectorize(inner)
        schedule_injective_from_existing(s, tensor)
    return s


schedule_elemwise = schedule_broadcast = schedule_injective


def _lanes(tensor: Tensor) -> int:
    target = Target.current()
    bits = 8 * (1 if tensor.dtype == "bool" else np.dtype(tensor.dtype.removeprefix("b")).itemsize)
    return (target if target is not None else Target.host()).lanes(bits)
