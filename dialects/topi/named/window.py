"""Windows that slide over the two image axes: what convolutions and pooling share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import SSAValue
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.topi.build import Body, Number, compute
from xrelay.dialects.topi.compute import ComputeOp
from xrelay.dialects.topi.shapes import covered, shape_of, tensor_type, window_extent


@dataclass(frozen=True)
class Window:
    """Kernel, strides, dilation (height, width) and padding (top, left, bottom, right) of a sliding window."""

    kernel: tuple[int, int]
    strides: tuple[int, int]
    dilation: tuple[int, int]
    padding: tuple[int, int, int, int]

    def outputs(self, axis: int, size: int, *, ceil: bool = False) -> int:
        """Number of windows along image axis 0 or 1; `ceil` counts a last window that is only partly inside."""
        padding = self.padding[axis] + self.padding[axis + 2] + (self.strides[axis] - 1 if ceil else 0)
        return window_extent(size, self.kernel[axis], self.strides[axis], self.dilation[axis], padding)

    def covered(self, axis: int, outputs: int) -> int:
        """How many elements of the padded axis `outputs` windows read."""
        return covered(outputs, self.kernel[axis], self.strides[axis], self.dilation[axis])


def parse_window(
    name: str,
    constraint: str,
    kernel: Sequence[int],
    strides: DenseArrayBase[IntegerType],
    dilation: DenseArrayBase[IntegerType],
    padding: DenseArrayBase[IntegerType],
) -> Window:
    """The window that an op's properties describe; raises `VerifyException` for wrong counts or signs."""
    pairs = {"kernel": tuple(kernel)}
    pairs |= {"strides": tuple(strides.iter_values()), "dilation": tuple(dilation.iter_values())}
    for what, values in pairs.items():
        if len(values) != 2 or min(values) < 1:
            raise VerifyException(f"[{name} {constraint}] {what} is {list(values)}, not two positive numbers")
    sides = tuple(padding.iter_values())
    if len(sides) != 4 or min(sides) < 0:
        raise VerifyException(f"[{name} {constraint}] padding is {list(sides)}, not four numbers of at least 0")
    (kh, kw), (sh, sw), (dh, dw) = pairs.values()
    top, left, bottom, right = sides
    return Window((kh, kw), (sh, sw), (dh, dw), (top, left, bottom, right))


def image_variables(shape: Sequence[int]) -> dict[str, int]:
    """Names for the axes of images, plain or blocked."""
    names: list[str] = ["n", "c", "h", "w", "ci"]
    return dict(zip(names, shape, strict=False))


def pad_images(data: SSAValue, window: Window, outputs: Sequence[int], value: Number) -> ComputeOp | None:
    """The compute that surrounds the images (axes 2 and 3 of `data`) by `value`; None where nothing is to be added.

    The result is as large as the windows need it, so that the windows read it without a condition.
    """
    if not any(window.padding):
        return None
    shape, element = shape_of(data), tensor_type(data).element_type
    images = [window.covered(axis, count) for axis, count in enumerate(outputs)]
    sizes = image_variables((*shape[:2], *images, *shape[4:]))
    top, left, _, _ = window.padding

    def body(b: Body) -> list[SSAValue]:
        n, c, h, w, *block = b.spatial
        inside = b.in_bounds([h - top, w - left], shape[2:4])
        read = b.guard(
            inside,
            element,
            lambda: b.read(data, n, c, h - top, w - left, *block),
            lambda: b.constant(value, element),
        )
        return [read]

    return compute("pad", sizes, [element], body)
