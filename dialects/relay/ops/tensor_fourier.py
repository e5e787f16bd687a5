"""Fourier transforms: `relay.dft`, and `relay.stft` over frames of a signal."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TupleType
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def

from xrelay.dialects.relay.core.constraints import AtLeast, Constraints, FloatElements, RankOf, SameElements
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.op_base import RelayOp
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import bool_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.shared.types import tensor_type
from xrelay.index_algebra.dims import shape_text


@register_relay_op
@irdl_op_definition
class DFTOp(RelayOp):
    """The discrete Fourier transform along the last axis: the tuple of the real and the imaginary parts.

    With n elements, element k is the sum over j of `x[j] * exp(-2 * pi * i * j * k / n)`; with `inverse` the exponent
    is positive, and the sum is divided by n.

    Constraints:
    - C4: both parts have the same shape.

    Example:
    ```mlir
    %t = relay.dft(%x, %y) : (tensor<2x5xf32>, tensor<2x5xf32>) -> tuple<tensor<2x5xf32>, tensor<2x5xf32>>
    ```

    """

    name = "relay.dft"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {"C1": FloatElements(), "C2": SameElements(), "C3": RankOf(0, 1)}

    re_data = operand_def()
    im_data = operand_def()

    inverse = bool_property(False)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns two tensors of the data's type; checks C4."""
        shape, other = facts.shape(0), facts.shape(1)
        message = f"parts of shapes {shape_text(shape)} and {shape_text(other)}"
        facts.require(len(shape) == len(other), "C4", message)
        for lhs, rhs in zip(shape, other, strict=True):
            facts.require_equal(lhs, rhs, "C4", "extents of both parts", message=message)
        return TupleType((facts.tensor(0),) * 2)


@register_relay_op
@irdl_op_definition
class STFTOp(RelayOp):
    """Fourier transforms of frames of a signal at distances of `hop_length`: (frequencies, frames, 2).

    The signal has frames of `n_fft` elements. The first `win_length` elements of each are multiplied by the window and
    transformed: frequency k is the sum over j of `window[j] * x[j] * exp(-2 * pi * i * j * k / win_length)`. The last
    axis has the real and the imaginary part. There are `n_fft` frequencies, or with `onesided` the first `n_fft / 2 +
    1`. With `normalized` they are divided by the square root of `n_fft`. The signal may have a leading batch axis.

    Constraints:
    - C6: the window has `win_length` elements, no more than `n_fft`.
    - C7: the signal has at least one frame.

    Example:
    ```mlir
    %y = relay.stft(%x, %w) {n_fft = 4, hop_length = 2, win_length = 3, normalized = false, onesided = true}
        : (tensor<2x9xf32>, tensor<3xf32>) -> tensor<2x3x3x2xf32>
    ```

    """

    name = "relay.stft"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": FloatElements(),
        "C2": SameElements(),
        "C3": RankOf(0, 1, 2),
        "C4": RankOf(1, 1, 1),
        "C5": AtLeast("hop_length"),
        "C8": AtLeast("win_length"),
        "C9": AtLeast("n_fft"),
    }

    data = operand_def()
    window = operand_def()

    n_fft = int_property()
    hop_length = int_property()
    win_length = int_property()
    normalized = bool_property(False)
    onesided = bool_property(True)

    def infer_type(self, facts: Facts) -> Attribute:
        """Returns the type with frequencies and frames; checks C6 and C7."""
        (shape, element), (window,) = facts.operand(0), facts.shape(1)
        size, length = self.n_fft.value.data, self.win_length.value.data
        facts.require(length <= size, "C6", f"windows of {length} elements in frames of {size}")
        facts.require_equal(window, length, "C6", "elements of the window and win_length")
        facts.require_at_least(shape[-1], size, "C7", "elements of the signal, and of a frame,")
        frequencies = size // 2 + 1 if self.onesided.value.data else size
        frames = (shape[-1] - size) // self.hop_length.value.data + 1
        return tensor_type((*shape[:-1], frequencies, frames, 2), element)
