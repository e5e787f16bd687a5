"""`arith.remf`, which xDSL lacks."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.irdl import irdl_op_definition, traits_def
from xdsl.traits import Pure


@irdl_op_definition
class RemFOp(arith.FloatingPointLikeBinaryOperation):
    """The remainder of a division of floats rounded towards zero, with the sign of the dividend (C's `fmod`); exact.

    ```mlir
    %a, %b = "test.op"() : () -> (vector<4xf32>, vector<4xf32>)
    %0 = arith.remf %a, %b : vector<4xf32>
    ```
    """

    name = "arith.remf"

    traits = traits_def(Pure())
