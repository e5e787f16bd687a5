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
