"""Pools with given result extents: `relay.nn.adaptive_avg_pool2d` and related ops."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.attribute_values import AttributeValue, ints
from xrelay.dialects.relay.core.facts import Facts
from xrelay.dialects.relay.core.mixed_precision import MixedPrecision
from xrelay.dialects.relay.core.properties import ints_property
from xrelay.dialects.relay.core.registry import register_relay_op
from xrelay.dialects.relay.ops.nn_pool import PoolOp
from xrelay.index_algebra.dims import Dim


class AdaptivePoolOp(PoolOp):
    """Base of the pools that divide each spatial axis into `output_size` windows.

    Window i of m over n elements begins at element `floor(i * n / m)` and ends before `ceil((i + 1) * n / m)`, so
    neighbouring windows may share an element. A single number applies to all axes; without numbers the result has the
    data's extents.

    Constraints shared by all, in addition to C1 and C2 of pools:
    - C3: `output_size` has no number, one, or one for each spatial axis, and none is negative.
    - C4: an axis that is divided into windows has elements.
    """

    ARGUMENTS: ClassVar[tuple[str, ...]] = ("output_size", *PoolOp.ARGUMENTS)

    output_size = ints_property()

    @classmethod
    def normalize(cls, attributes: dict[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Accepts a single number as size."""
        size = attributes.get("output_size")
        if isinstance(size, int):
            attributes["output_size"] = (size,)
        return attributes

    def spatial_extents(self, facts: Facts, extents: dict[str, Dim]) -> dict[str, Dim]:
        """Returns the numbers of windows; checks C3 and C4."""
        sizes, count = ints(self.output_size), len(self.AXES)
        message = f"output_size must have {count} non-negative numbers, found {list(sizes)}"
        facts.require(len(sizes) in (0, 1, count) and all(size >= 0 for size in sizes), "C3", message)
        if not sizes:
            return {axis: extents[axis] for axis in self.AXES}
        wanted = sizes * count if len(sizes) == 1 else sizes
        for axis, size in zip(self.AXES, wanted, strict=True):
            if size:
                facts.require_at_least(extents[axis], 1, "C4", f"axis {axis} of {size} windows:")
        return dict(zip(self.AXES, wanted, strict=True))


@register_relay_op
@irdl_op_definition
class AdaptiveAvgPool1DOp(AdaptivePoolOp):
    """The mean of each of `output_size` windows over the width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool1d(%x) {output_size = [3]} : (tensor<1x8x16xf32>) -> tensor<1x8x3xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool1d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class AdaptiveAvgPool2DOp(AdaptivePoolOp):
    """The mean of each of `output_size` windows over height and width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool2d(%x) {output_size = [3, 2]} : (tensor<1x8x7x5xf32>) -> tensor<1x8x3x2xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool2d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class AdaptiveAvgPool3DOp(AdaptivePoolOp):
    """The mean of each of `output_size` windows over depth, height and width; means of integers are truncated.

    Example:
    ```mlir
    %y = relay.nn.adaptive_avg_pool3d(%x) {output_size = [2]} : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x2x2x2xf32>
    ```

    """

    name = "relay.nn.adaptive_avg_pool3d"
    MIXED_PRECISION: ClassVar[MixedPrecision | None] = MixedPrecision.NEVER
    AXES: ClassVar[str] = "DHW"


@register_relay_op
@irdl_op_definition
class AdaptiveMaxPool1DOp(AdaptivePoolOp):
    """The greatest element of each of `output_size` windows over the width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool1d(%x) {output_size = [3]} : (tensor<1x8x16xf32>) -> tensor<1x8x3xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool1d"
    AXES: ClassVar[str] = "W"


@register_relay_op
@irdl_op_definition
class AdaptiveMaxPool2DOp(AdaptivePoolOp):
    """The greatest element of each of `output_size` windows over height and width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool2d(%x) {output_size = [3, 2]} : (tensor<1x8x7x5xf32>) -> tensor<1x8x3x2xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool2d"
    AXES: ClassVar[str] = "HW"


@register_relay_op
@irdl_op_definition
class AdaptiveMaxPool3DOp(AdaptivePoolOp):
    """The greatest element of each of `output_size` windows over depth, height and width.

    Example:
    ```mlir
    %y = relay.nn.adaptive_max_pool3d(%x) {output_size = [2]} : (tensor<1x8x3x4x5xf32>) -> tensor<1x8x2x2x2xf32>
    ```

    """

    name = "relay.nn.adaptive_max_pool3d"
    AXES: ClassVar[str] = "DHW"


ADAPTIVE_AVG_POOLS = (AdaptiveAvgPool1DOp, AdaptiveAvgPool2DOp, AdaptiveAvgPool3DOp)
ADAPTIVE_MAX_POOLS = (AdaptiveMaxPool1DOp, AdaptiveMaxPool2DOp, AdaptiveMaxPool3DOp)
