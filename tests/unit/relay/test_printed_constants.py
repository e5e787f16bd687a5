"""Constants print as xDSL prints their dense attributes, also those of equal elements, which take a faster way.

Zeros of both signs print so that the text has their signs.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, DenseIntOrFPElementsAttr
from xdsl.parser import Parser

from xrelay.dialects.relay.structure.constant import ConstantOp, dense_of
from xrelay.dialects.shared.dtypes import element_type
from xrelay.dialects.shared.types import tensor_type


@pytest.mark.parametrize("size", [0, 1, 16, 17, 3000])
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64", "int8", "uint8", "int64", "bool"])
@pytest.mark.parametrize("values", [0, 1, [1, 0], -0.0, np.nan], ids=str)
def test_a_constant_prints_as_its_attribute(size: int, dtype: str, values: ArrayLike) -> None:
    with np.errstate(invalid="ignore"):
        array = np.resize(np.array(values).astype(dtype), (1, size))
    type = tensor_type(array.shape, element_type(array.dtype))
    value = dense_of(array, type)
    assert isinstance(value, DenseIntOrFPElementsAttr)
    assert str(ConstantOp(value, type)) == f"%0 = relay.constant {value}"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("values", [[0.0, -0.0], [-0.0, 0.0], [[0.0] * 60, [-0.0] * 60]], ids=str)
def test_the_text_has_the_sign_of_each_zero(dtype: str, values: ArrayLike) -> None:
    array = np.array(values, dtype)
    type = tensor_type(array.shape, element_type(array.dtype))
    op = ConstantOp(dense_of(array, type), type)
    context = Context()
    context.load_dialect(Builtin)
    assert Parser(context, str(op).removeprefix("%0 = relay.constant ")).parse_attribute() == op.value
