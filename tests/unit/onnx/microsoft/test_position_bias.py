"""RelativePositionBias and its gates, which onnxruntime supports only on GPUs: against their formulas."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.microsoft_nodes import DOMAIN
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(5)


def normal(*shape: int) -> Array:
    return RNG.normal(size=shape).astype(np.float32)


def bin_of(behind: int, count: int, greatest: int, *, both_ways: bool) -> int:
    """The bucket of one distance, as in T5."""
    first = 0
    if both_ways:
        count //= 2
        first, behind = (count if behind < 0 else 0), abs(behind)
    behind, exact = max(behind, 0), count // 2
    if behind < exact:
        return first + behind
    wide = np.float32(np.log(np.float32(behind / exact))) / np.float32(np.log(greatest / exact)) * (count - exact)
    return first + min(exact + int(wide), count - 1)


@pytest.mark.parametrize("both_ways", [False, True])
@pytest.mark.parametrize("constants", [(), (1, 2)])
def test_bins_of_distances(both_ways: bool, constants: tuple[int, ...]) -> None:
    table, length = normal(8, 3), np.array([23])
    inputs = [table, length, length]
    words: dict[str, Any] = {"max_distance": 17, "is_bidirectional": int(both_ways), "constants": constants}
    bins = [[bin_of(query - key, 8, 17, both_ways=both_ways) for key in range(23)] for query in range(23)]
    expected = table[np.array(bins)].transpose(2, 0, 1)[None]
    for (found,) in both(node_model("RelativePositionBias", inputs, 17, domain=DOMAIN, **words), inputs):
        np.testing.assert_allclose(found, expected)


def test_gates() -> None:
    query, bias, place = normal(2, 5, 12), normal(12), normal(1, 3, 5, 5)
    weight, offset, scale = normal(4, 8), normal(8), normal(1, 3, 1, 1)
    heads = (query + bias).reshape(2, 5, 3, 4).transpose(0, 2, 1, 3)
    sums = (heads @ weight + offset).reshape(2, 3, 5, 2, 4).sum(-1)
    first, second = np.split(1 / (1 + np.exp(-sums)), 2, axis=-1)
    inputs = [query, bias, place, weight, offset, scale]
    proto = node_model("GatedRelativePositionBias", inputs, 17, domain=DOMAIN, num_heads=3, dims={0: ("n", 5, 12)})
    for (found,) in both(proto, inputs):
        np.testing.assert_allclose(found, (first * (second * scale - 1) + 2) * place, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("op", "inputs", "words", "message"),
    [
        ("RelativePositionBias", [normal(8), np.array([2]), np.array([2])], {"max_distance": 9}, "bins and heads"),
        ("RelativePositionBias", [normal(8, 1), np.array([2]), np.array([2])], {"max_distance": 4}, "fewer bins"),
        ("GatedRelativePositionBias", [normal(1, 2, 5)] * 6, {"num_heads": 2}, "three axes and two are expected"),
    ],
)
def test_forms_that_are_refused(op: str, inputs: list[Array], words: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model(op, inputs, 17, domain=DOMAIN, **words))
