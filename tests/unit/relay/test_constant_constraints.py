"""An error that only Python code can make: a constant whose array differs from its type."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.relay.structure.constant import ConstantOp
from xrelay.dialects.relay.structure.weights import WeightAttr
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import tensor_type


@pytest.mark.parametrize("array", [np.zeros((3, 2), np.float32), np.zeros((2, 3), np.float64)])
def test_a_weight_has_the_shape_and_type_of_the_result(array: np.ndarray) -> None:
    constant = ConstantOp(WeightAttr.of("w", array), tensor_type((2, 3), element_type("float32")))
    with pytest.raises(VerifyException, match=r"\[relay.constant C3\] weight 'w' is float"):
        constant.verify()
