"""Nests that are cut where a branch goes another way compute the same as the whole nest."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay


@pytest.mark.parametrize(("channels", "threads"), [(16, 1), (8, 2), (12, 1)])
def test_concatenation_of_blocked_operands(channels: int, threads: int) -> None:
    """One operand is transposed to blocks of channels: its nest has tiles, or gathers lanes."""
    rng = np.random.default_rng(0)
    text = f"""
    !x = tensor<?x{3 * channels}x?xf32, #relay.dims<b, n>>
    !y = tensor<?x2x?x{channels}xf32, #relay.dims<b, n>>
    func.func @main(%x: !x, %y: !y, %z: !y) -> !relay.incomplete {{
      %t = relay.layout_transform(%x) {{src_layout = "NCW", dst_layout = "NCW{channels}c"}} : (!x) -> !relay.incomplete
      %all = relay.tuple(%y, %t, %z) : (!y, !relay.incomplete, !y) -> !relay.incomplete
      %r = relay.concatenate(%all) {{axis = 1}} : (!relay.incomplete) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }}"""
    model = xrelay.compile(xrelay.parse(text), threads=threads, cache=False)
    for n in (1, 7, 8, 19, 40):
        x = rng.standard_normal((2, 3 * channels, n), np.float32)
        y, z = rng.standard_normal((2, 2, 2, n, channels), np.float32)
        blocked = x.reshape(2, 3, channels, n).transpose(0, 1, 3, 2)
        np.testing.assert_array_equal(model(x, y, z)[0], np.concatenate([y, blocked, z], axis=1))


def test_concatenation_of_blocks_of_channels() -> None:
    """Each operand is transposed from blocks of channels; a quotient of the channel selects the operand."""
    rng = np.random.default_rng(0)
    text = """
    !x = tensor<?x2x?x16xf32, #relay.dims<b, n>>
    func.func @main(%x: !x, %y: !x) -> !relay.incomplete {
      %all = relay.tuple(%x, %y) : (!x, !x) -> !relay.incomplete
      %c = relay.concatenate(%all) {axis = 1} : (!relay.incomplete) -> !relay.incomplete
      %r = relay.layout_transform(%c) {src_layout = "NCW16c", dst_layout = "NCW"}
        : (!relay.incomplete) -> !relay.incomplete
      func.return %r : !relay.incomplete
    }"""
    model = xrelay.compile(xrelay.parse(text), threads=1, cache=False)
    for n in (1, 15, 16, 37):
        x, y = rng.standard_normal((2, 3, 2, n, 16), np.float32)
        expected = np.concatenate([x, y], axis=1).transpose(0, 1, 3, 2).reshape(3, 64, n)
        np.testing.assert_array_equal(model(x, y)[0], expected)
