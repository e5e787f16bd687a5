"""`relay.where` in native code against numpy: every element type, and every way to broadcast."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay import compile, relay

SHAPES = [((3, 17), (3, 17), (17,)), ((5, 1), (), (4,)), ((1,), (2, 3), (2, 3)), ((), (3,), (3,))]


@pytest.mark.grid(3)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "float64"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_where(dtype: str, shapes: tuple[tuple[int, ...], ...]) -> None:
    rng = np.random.default_rng(0)
    operands = [np.asarray(rng.random(shapes[0]) > 0.5)]
    operands += [np.asarray(rng.random(shape) * 10).astype(dtype) for shape in shapes[1:]]
    variables = [
        relay.var(name, shape=array.shape, dtype=str(array.dtype)) for name, array in zip("cxy", operands, strict=True)
    ]
    module = relay.Module.from_expr(relay.Function(variables, relay.where(*variables)))
    (found,) = compile(module, cache=False, threads=1).run(operands)
    np.testing.assert_array_equal(found, np.where(*operands))
