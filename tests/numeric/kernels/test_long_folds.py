"""A single minimum or maximum of very many numbers, in odd shapes, with infinities and NaNs."""

from __future__ import annotations

import numpy as np
import pytest

from xrelay.api.compile import compile
from xrelay.passes.infra.source import full_context, parse_module

SHAPES = ((65537,), (257, 257), (3, 151, 149), (1, 5, 1, 14000), (70000, 1))


def program(op: str, shape: tuple[int, ...]) -> str:
    """Returns a program that folds a tensor to a scalar."""
    type = f"tensor<{'x'.join(map(str, shape))}xf32>"
    return f"""func.func @main(%x: {type}) -> tensor<f32> {{
      %y = relay.{op}(%x) : ({type}) -> tensor<f32>
      func.return %y : tensor<f32>
    }}"""


@pytest.mark.parametrize("op", ["min", "max"])
def test_long_folds_find_the_extreme_in_any_row(op: str) -> None:
    random = np.random.default_rng(0)
    for shape in SHAPES:
        model = compile(parse_module(full_context(), program(op, shape), "test"), cache=False, threads=1)
        for special in (None, -np.inf, np.inf, np.nan):
            data = random.standard_normal(shape).astype(np.float32)
            if special is not None:
                data.flat[random.integers(data.size)] = special
            wanted = data.min() if op == "min" else data.max()
            np.testing.assert_array_equal(model(data)[0], wanted, str(shape))
