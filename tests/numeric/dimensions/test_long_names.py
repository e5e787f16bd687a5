"""Names with the first 1030 characters in common, as LLVM truncates names after 1024."""

from __future__ import annotations

import numpy as np
from onnx import helper
from support.onnx_models import model, value

from xrelay.api.compile import compile

LONG = "n" * 1030


def test_long_names_that_differ_at_their_ends() -> None:
    a, b, difference, weight, result = (LONG + end for end in "abdwr")
    nodes = [
        helper.make_node("Sub", [a, b], [difference], name=LONG + "x"),
        helper.make_node("MatMul", [difference, weight], [result], name=LONG + "y"),
    ]
    weights = {weight: np.arange(32, dtype=np.float32).reshape(4, 8)}
    proto = model(nodes, [value(a, (2, 4)), value(b, (2, 4))], [result], initializers=weights)
    x, y = np.arange(16, dtype=np.float32).reshape(2, 2, 4)
    for level in (0, 3):
        (found,) = compile(proto, opt_level=level, cache=False, threads=1).run({b: y, a: x})
        np.testing.assert_allclose(found, (x - y) @ weights[weight])
