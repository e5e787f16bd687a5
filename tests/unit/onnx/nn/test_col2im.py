"""Col2Im against sums over blocks, with shapes that are constant or known only at run time."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from support.one_node import Array, both, node_model

from xrelay.errors import ModelImportError
from xrelay.frontend.onnx import import_onnx

RNG = np.random.default_rng(4)

CASES: list[tuple[list[int], list[int], dict[str, Any]]] = [
    ([5, 5], [1, 5], {}),
    ([5, 6], [2, 3], {"strides": [2, 1]}),
    ([4, 3], [3, 2], {"pads": [1, 0, 2, 1]}),
    ([6, 5], [2, 2], {"dilations": [2, 3], "pads": [0, 1, 1, 1]}),
    ([7], [3], {"strides": [2]}),
    ([3, 4, 2], [1, 2, 2], {"strides": [1, 2, 1]}),
]


def summed(x: Array, image: list[int], block: list[int], counts: list[int], words: dict[str, list[int]]) -> Array:
    """The image, block by block."""
    rank = len(image)
    strides, dilations = words.get("strides", [1] * rank), words.get("dilations", [1] * rank)
    pads = words.get("pads", [0] * 2 * rank)
    split = x.reshape(x.shape[0], -1, *block, *counts)
    total = np.zeros((x.shape[0], split.shape[1], *image), x.dtype)
    for place in product(*map(range, [*block, *counts])):
        at = [place[a] * dilations[a] + place[rank + a] * strides[a] - pads[a] for a in range(rank)]
        if all(0 <= index < extent for index, extent in zip(at, image, strict=True)):
            total[(slice(None), slice(None), *at)] += split[(slice(None), slice(None), *place)]
    return total


def counted(image: list[int], block: list[int], words: dict[str, list[int]]) -> list[int]:
    rank = len(image)
    strides, dilations = words.get("strides", [1] * rank), words.get("dilations", [1] * rank)
    pads = words.get("pads", [0] * 2 * rank)
    rooms = [image[a] + pads[a] + pads[a + rank] - dilations[a] * (block[a] - 1) - 1 for a in range(rank)]
    return [room // stride + 1 for room, stride in zip(rooms, strides, strict=True)]


@pytest.mark.grid(6)
@pytest.mark.parametrize("constants", [(1, 2), ()])
@pytest.mark.parametrize(("image", "block", "words"), CASES)
def test_blocks_are_added(
    image: list[int], block: list[int], words: dict[str, Any], constants: tuple[int, ...]
) -> None:
    counts = counted(image, block, words)
    x = RNG.integers(-9, 9, (2, 3 * int(np.prod(block)), int(np.prod(counts)))).astype(np.float32)
    inputs = [x, np.array(image, np.int64), np.array(block, np.int64)]
    proto = node_model("Col2Im", inputs, 18, constants=constants, **words)
    for (found,) in both(proto, inputs):
        np.testing.assert_array_equal(found, summed(x, image, block, counts, words), strict=True)


def test_the_batch_may_be_open_and_halves_are_added_in_f32() -> None:
    x = np.full((3, 9, 9), 0.1, np.float16)
    inputs = [x, np.array([5, 5]), np.array([3, 3])]
    proto = node_model("Col2Im", inputs, 18, constants=(1, 2), dims={0: ("n", 9, 9)})
    for (found,) in both(proto, inputs):
        assert found[0, 0, 2, 2] == np.float16(np.float32(x[0, 0, 0]) * 9)


@pytest.mark.parametrize(
    ("shape", "image", "block", "words", "message"),
    [
        ((1, 4), [3, 3], [2, 2], {}, r"\(N, C \* elements of a block, blocks\) is expected"),
        ((1, 4, 4), [3, 3], [2], {}, "must have an extent for each axis"),
        ((1, 4, 4), [3, 3], [2, 2], {"strides": [0, 1]}, r"strides \[0, 1\]"),
        ((1, 4, 4), [3, 0], [2, 2], {}, r"an image of \(3, 0\)"),
        ((1, 5, 4), [3, 3], [2, 2], {}, "relay.reshape"),
        ((1, 4, 5), [3, 3], [2, 2], {}, "relay.reshape"),
    ],
)
def test_forms_that_are_refused(
    shape: tuple[int, ...], image: list[int], block: list[int], words: dict[str, Any], message: str
) -> None:
    inputs = [np.ones(shape, np.float32), np.array(image), np.array(block)]
    with pytest.raises(ModelImportError, match=message):
        import_onnx(node_model("Col2Im", inputs, 18, constants=(1, 2), **words))
