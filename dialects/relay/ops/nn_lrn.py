"""`relay.nn.lrn`: normalisation across neighbouring channels."""

from __future__ import annotations

from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from xrelay.dialects.relay.core.along_axis import AlongAxisOp
from xrelay.dialects.relay.core.constraints import AtLeast, AxisOf, Constraints, Finite, FloatElements
from xrelay.dialects.relay.core.op_pattern import OpPatternKind
from xrelay.dialects.relay.core.properties import float_property, int_property
from xrelay.dialects.relay.core.registry import register_relay_op


@register_relay_op
@irdl_op_definition
class LRNOp(AlongAxisOp):
    """Local response normalisation: each element is divided by a power of the squares around it along `axis`.

    With c the index along `axis`, of extent n:

        total[…c…] = sum of data[…k…]² for k from max(0, c - (size - 1) // 2) to min(n - 1, c + size // 2)
        result[…c…] = data[…c…] / (bias + alpha / size * total[…c…]) ^ beta

    Relay asks for an odd `size`; for an even one the window reaches further up than down, as in ONNX.

    Example:
    ```mlir
    %y = relay.nn.lrn(%x) {size = 5, bias = 1.0, alpha = 1.0e-04} : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```

    """

    name = "relay.nn.lrn"
    PATTERN: ClassVar[OpPatternKind] = OpPatternKind.OPAQUE
    CONSTRAINTS: ClassVar[Constraints] = {
        "C1": AxisOf(),
        "C2": AtLeast("size"),
        "C3": FloatElements(),
        "C4": Finite(("bias", "alpha", "beta")),
    }

    size = int_property(5)
    axis = int_property(1)
    bias = float_property(2.0)
    alpha = float_property(1e-5)
    beta = float_property(0.75)
