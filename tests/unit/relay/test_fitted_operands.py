"""Products of two integer types: with `out_dtype`, both are cast to a type that can represent both."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import relay
from xrelay.errors import ConstraintError

BYTES = np.array([[255, 0, 7], [1, 2, 200]], np.uint8)
SIGNED = np.array([[-128, 127, -1], [3, -4, 5]], np.int8)


@pytest.mark.parametrize("kind", ["debug", "graph"])
def test_products_are_exact(kind: str) -> None:
    x, w = relay.var("x", shape=(2, 3), dtype="uint8"), relay.var("w", shape=(2, 3), dtype="int8")
    wanted = BYTES.astype(np.int32) @ SIGNED.T.astype(np.int32)
    as_images, as_kernels = relay.reshape(x, (2, 3, 1, 1)), relay.reshape(w, (2, 3, 1, 1))
    convolved = relay.nn.conv2d(as_images, as_kernels, channels=2, kernel_size=(1, 1), out_dtype="int32")
    values = relay.Tuple([relay.nn.dense(x, w, out_dtype="int32"), relay.reshape(convolved, (2, 2))])
    for found in relay.create_executor(kind).evaluate(relay.Function([x, w], values))(BYTES, SIGNED):
        np.testing.assert_array_equal(found, wanted, strict=True)


def test_one_type_and_no_result_type_stay() -> None:
    x, w = relay.const(BYTES), relay.const(SIGNED)
    call = relay.nn.dense(x, x, out_dtype="int32")
    assert isinstance(call, relay.Call)
    assert call.args == [x, x]
    with pytest.raises(ConstraintError, match=r"\[relay.nn.dense C4\] element types ui8 != i8"):
        relay.nn.dense(x, w)
    with pytest.raises(ConstraintError, match=r"\[relay.nn.dense C4\] element types ui8 != f32"):
        relay.nn.dense(x, relay.const(SIGNED.astype(np.float32)), out_dtype="int32")
