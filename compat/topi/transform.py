"""Computes that move elements, and reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xrelay import te
from xrelay.errors import InputError
from xrelay.te.expr import PrimExpr
from xrelay.te.tensor import Tensor
from xrelay.topi import tag
from xrelay.topi.utils import normal_axes


def transpose(a: Tensor, axes: Sequence[int] | None = None) -> Tensor:
    """Permutes the axes, by default in reverse order. Raises `InputError` unless `axes` is a permutation."""
    order = list(reversed(range(a.ndim))) if axes is None else [axis % max(a.ndim, 1) for axis in axes]
    if sorted(order) != list(range(a.ndim)):
        raise InputError(f"{axes} is not a permutation of the {a.ndim} axes of {a.name}", help="name each axis once")
    inverse = sorted(range(a.ndim), key=order.__getitem__)
    shape = [a.shape[axis] for axis in order]
    return te.compute(shape, lambda *i: a(*(i[axis] for axis in inverse)), name="T_transpose", tag=tag.INJECTIVE)


def reshape(a: Tensor, newshape: Sequence[int]) -> Tensor:
    """Reshapes in row-major order. Raises `InputError` if the number of elements changes."""
    shape = tuple(newshape)
    if prod(shape) != prod(a.shape):
        raise InputError(
            f"{a.name} of shape {list(a.shape)} does not reshape to {list(shape)}", help="keep the number of elements"
        )

    def fill(*indices: te.IterVar) -> PrimExpr:
        flat: PrimExpr = te.const(0)
        for index, extent in zip(indices, shape, strict=True):
            flat = flat * extent + index
        at: list[PrimExpr] = []
        for extent in reversed(a.shape):
            at.append(flat % extent)
            flat = flat // extent
        return a(*reversed(at))

    return te.compute(shape, fill, name="T_reshape", tag=tag.INJECTIVE)


def expand_dims(a: Tensor, axis: int, num_newaxis: int = 1) -> Tensor:
    """Inserts axes of extent 1 before `axis`."""
    at = axis % (a.ndim + 1)
    shape = (*a.shape[:at], *[1] * num_newaxis, *a.shape[at:])
    return te.compute(shape, lambda *i: a(*i[:at], *i[at + num_newaxis :]), name="T_expand_dims", tag=tag.INJECTIVE)


def squeeze(a: Tensor, axis: int | Sequence[int] | None = None) -> Tensor:
    """Removes axes of extent 1, all by default. Raises `InputError` for an axis of another extent."""
    removed = [at for at in range(a.ndim) if a.shape[at] == 1] if axis is None else normal_axes(a, axis)
    if any(a.shape[at] != 1 for at in removed):
        raise InputError(f"axis {axis} of {a.name} has more than one element", help="squeeze axes of extent 1")
    kept = [at for at in range(a.ndim) if at not in removed]

    def fill(*indices: te.IterVar) -> PrimExpr:
        at = dict(zip(kept, indices, strict=True))
        return a(*(at.get(axis, 0) for axis in range(a.ndim)))

    return te.compute([a.shape[at] for at in kept], fill, name="T_squeeze", tag=tag.INJECTIVE)


def flip(a: Tensor, axis: int = 0) -> Tensor:
    """Reverses one axis."""
    (at,) = normal_axes(a, axis)
    last = a.shape[at] - 1
    return te.compute(a.shape, lambda *i: a(*i[:at], last - i[at], *i[at + 1 :]), name="T_flip", tag=tag.INJECTIVE)


def concatenate(a_tuple: Sequence[Tensor], axis: int = 0) -> Tensor:
    """Concatenates tensors along an axis. Raises `InputError` if they differ in other axes."""
    first = a_tuple[0]
    (at,) = normal_axes(first, axis)
    if any(one.shape[:at] + one.shape[at + 1 :] != first.shape[:at] + first.shape[at + 1 :] for one in a_tuple):
        raise InputError("concatenate: the tensors differ in other axes than {at}", help=f"only axis {at} may differ")
    total = sum(one.shape[at] for one in a_tuple)

    def fill(*i: te.IterVar) -> PrimExpr:
        begin = total - a_tuple[-1].shape[at]
        value = a_tuple[-1](*i[:at], i[at] - begin, *i[at + 1 :])
        for one in reversed(a_tuple[:-1]):
            begin -= one.shape[at]
            value = te.if_then_else(i[at] < begin + one.shape[at], one(*i[:at], i[at] - begin, *i[at + 1 :]), value)
        return value

    shape = (*first.shape[:at], total, *first.shape[at + 1 :])
    return te.compute(shape, fill, name="T_concat", tag=tag.INJECTIVE)


def _reduction(name: str, reduce: Callable[..., PrimExpr]) -> Callable[..., Tensor]:
    def apply(data: Tensor, axis: int | Sequence[int] | None = None, keepdims: bool = False) -> Tensor:
        removed = normal_axes(data, axis)
        if not removed:
            return te.compute(data.shape, lambda *i: data(*i), name=f"T_{name}", tag=tag.COMM_REDUCE)
        axes = {at: te.reduce_axis((0, data.shape[at]), name=f"k{at}") for at in removed}
        kept = [at for at in range(data.ndim) if keepdims or at not in axes]

        def fill(*indices: te.IterVar) -> PrimExpr:
            spatial = dict(zip(kept, indices, strict=True))
            return reduce(data(*(axes.get(at, spatial.get(at)) for at in range(data.ndim))), axis=list(axes.values()))

        shape = [1 if at in axes else data.shape[at] for at in kept]
        return te.compute(shape, fill, name=f"{data.name}_red", tag=tag.COMM_REDUCE)

    apply.__name__ = apply.__qualname__ = name
    apply.__doc__ = f"The {name} over axes, all by default; `keepdims` leaves them with extent 1."
    return apply


sum_, max_, min_ = (_reduction(name, getattr(te, name)) for name in ("sum", "max", "min"))
