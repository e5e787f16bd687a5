"""The bases of the named operations of topi, which expand to computes, and of those with a window over images."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, Signedness, TensorType, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation, ParsePropInAttrDict, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, Number, compute, is_unsigned
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.shapes import float_type, holds_products_of, ints, shape_of, tensor_type
from xrelay.index_algebra.dims import Dim
from xrelay.index_algebra.windows import WindowAxis, of_any_size, window_of

UNSIGNED_BYTE = IntegerType(8, Signedness.UNSIGNED)
"""The type of data whose products with i8 CPUs sum in 32 bits."""


@dataclass
class Expansion:
    """The computes that implement a named op, in order, and the values that replace its results."""

    ops: list[Operation] = field(default_factory=list[Operation])
    results: list[SSAValue] = field(default_factory=list[SSAValue])

    def add(self, op: ComputeOp) -> SSAValue:
        """Appends a compute and returns its first result."""
        self.ops.append(op)
        return op.results[0]

    def finish(self, op: ComputeOp) -> Expansion:
        """Appends the compute whose results replace those of the named op."""
        self.ops.append(op)
        self.results = list(op.results)
        return self


class NamedOp(IRDLOperation, ABC):
    """An operation on tensors that schedules can recognise by its name until it is expanded.

    Its semantics are those of its expansion. Ops of other packages may derive from this class: `topi-expand-named` and
    the interpreter use only `expand`.
    """

    LEVEL: ClassVar[str] = "topi"
    """The level of the op, whatever dialect its name has (`xrelay.dialects.shared.levels`)."""

    @abstractmethod
    def expand(self) -> Expansion:
        """Returns new computes on the same operands that compute the same results; the op itself stays unchanged."""


def convert(body: Body, value: SSAValue, type: Attribute) -> SSAValue:
    """`value` converted to the wider type of an accumulator, without changing the number."""
    if value.type == type:
        return value
    if isinstance(type, IntegerType):
        return body.add((arith.ExtUIOp if is_unsigned(value.type) else arith.ExtSIOp)(value, type))
    return body.add(arith.ExtFOp(value, float_type(type)))


def add_product(body: Body, *factors: SSAValue) -> list[SSAValue]:
    """The accumulator plus the product of two factors, which are converted to its type."""
    total = body.accumulators[0]
    return [body.accumulate_product(total, *(convert(body, factor, total.type) for factor in factors))]


def verify_product_types(name: str, constraint: str, data: Attribute, weight: Attribute, result: Attribute) -> None:
    """Checks that data and weight have equal types, or ui8 and i8, and that the result type holds sums of products."""
    if data != weight and (data, weight, result) != (UNSIGNED_BYTE, i8, i32):
        raise VerifyException(f"[{name} {constraint}] data of {data} and weight of {weight} differ")
    if not holds_products_of(result, data):
        raise VerifyException(f"[{name} {constraint}] result of {result} cannot hold sums of products of {data}")


def verify_ranks(name: str, constraint: str, ranks: Sequence[tuple[str, Sequence[Dim], Sequence[int]]]) -> None:
    """Checks that each `(what, shape, allowed ranks)` has an allowed rank."""
    for what, shape, allowed in ranks:
        if len(shape) not in allowed:
            wanted = " or ".join(map(str, allowed))
            raise VerifyException(f"[{name} {constraint}] {what} has rank {len(shape)}, not {wanted}")


TAPS = {"D": "z", "H": "y", "W": "x"}
"""Maps a spatial axis to the variable over a window's taps along it."""

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six")


class WindowOp(NamedOp, ABC):
    """Base of the ops on images N×C×…, blocked N×(C/b)×…×b, with a window that slides over the spatial axes `AXES`."""

    AXES: ClassVar[str]
    """The spatial axes, outermost first: `W`, `HW` or `DHW`. Properties have defaults for them."""

    strides = prop_def(DenseArrayBase[IntegerType])
    padding = prop_def(DenseArrayBase[IntegerType])
    dilation = prop_def(DenseArrayBase[IntegerType])
    tensor = result_def(TensorType)

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        axes = vars(cls).get("AXES", "")
        for name, default in (("strides", [1]), ("padding", [0, 0]), ("dilation", [1])):
            if axes and name not in vars(cls):
                setattr(cls, name, prop_def(DenseArrayBase[IntegerType], default_value=ints(default * len(axes))))

    @property
    def spatial(self) -> slice:
        """The positions of the spatial axes in an image."""
        return slice(2, 2 + len(self.AXES))

    def window_over(self, kernel: Sequence[int]) -> tuple[WindowAxis[int], ...]:
        """The window of these sizes; raises `VerifyException` (C2) for numbers of wrong count or sign."""
        rank = len(self.AXES)
        strides, dilation = tuple(self.strides.iter_values()), tuple(self.dilation.iter_values())
        for what, values in (("kernel", kernel), ("strides", strides), ("dilation", dilation)):
            if len(values) != rank or min(values) < 1:
                wanted = f"{_NUMBERS[rank]} positive number{'s' if rank > 1 else ''}"
                raise VerifyException(f"[{self.name} C2] {what} is {list(values)}, not {wanted}")
        sides = tuple(self.padding.iter_values())
        if len(sides) != 2 * rank or min(sides) < 0:
            wanted = f"{_NUMBERS[2 * rank]} numbers of at least 0"
            raise VerifyException(f"[{self.name} C2] padding is {list(sides)}, not {wanted}")
        return window_of(tuple(kernel), strides, dilation, sides)

    def image_variables(self, shape: Sequence[Dim]) -> dict[str, Dim]:
        """Names for the axes of images, plain or blocked."""
        return dict(zip(["n", "c", *self.AXES.lower(), "ci"], shape, strict=False))

    def taps(self, kernel: Sequence[int]) -> dict[str, Dim]:
        """The variables over the taps of a window, with their extents."""
        return {TAPS[axis]: size for axis, size in zip(self.AXES, kernel, strict=True)}

    def padded(
        self, data: SSAValue, window: Sequence[WindowAxis[int]], value: Number, *, partial: bool = False
    ) -> ComputeOp | None:
        """The compute that surrounds the images of `data` by `value`; None if no padding is needed.

        Its result is as large as the windows need, so that they read it without a condition. With `partial` the last
        windows may extend beyond the padding.
        """
        if not partial and not any(axis.before or axis.after for axis in window):
            return None
        shape, element, counts = shape_of(data), tensor_type(data).element_type, shape_of(self.tensor)[self.spatial]
        images = [of_any_size(axis).covered(count) for axis, count in zip(window, counts, strict=True)]
        sizes = self.image_variables((*shape[:2], *images, *shape[self.spatial.stop :]))

        def body(b: Body) -> list[SSAValue]:
            at = list(b.spatial)
            at[self.spatial] = [
                index - axis.before for index, axis in zip(b.spatial[self.spatial], window, strict=True)
            ]
            inside = b.in_bounds(at[self.spatial], shape[self.spatial])
            return [b.guard(inside, element, lambda: b.read(data, *at), value)]

        return compute("pad", sizes, [element], body)
