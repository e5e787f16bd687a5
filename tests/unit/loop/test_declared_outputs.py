"""The declared number of outputs of a loop-level function, against its arguments and its writes."""

from __future__ import annotations

import numpy as np
import pytest

import xrelay
from xrelay.errors import VerificationError

TEXT = """
func.func @main(%x: memref<4xf32>, %y: memref<4xf32>) attributes {{loop.num_outputs = {main} : i64}} {{
  func.call @k(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()
  func.return
}}
func.func private @k(%x: memref<4xf32>, %y: memref<4xf32>)
    attributes {{loop.num_outputs = {kernel} : i64, loop.kernel}} {{
  loop.for "i" %i to 4 {{
    %v = loop.load %x[%i] : memref<4xf32>
    loop.store %v, {target}[%i] : memref<4xf32>
  }}
  func.return
}}
"""


def _module(main: int = 1, kernel: int = 1, target: str = "%y") -> object:
    return xrelay.parse(TEXT.format(main=main, kernel=kernel, target=target))


def test_outputs_that_are_written_are_right() -> None:
    (result,) = xrelay.compile(_module(), cache=False).run([np.arange(4, dtype=np.float32)])
    assert result.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ({"main": 2}, "@main never writes its output 0"),
        ({"main": 0}, "@main writes its input 1"),
        ({"main": -1}, "loop.num_outputs is -1 : i64, and @main takes 2 buffers"),
        ({"main": 16}, "loop.num_outputs is 16 : i64, and @main takes 2 buffers"),
        ({"kernel": 2}, "@k never writes its output 0"),
        ({"kernel": 0}, "@k writes its input 1"),
        ({"target": "%x"}, "@k never writes its output 0"),
    ],
)
def test_outputs_that_are_declared_wrongly_are_refused(module: dict[str, int], words: str) -> None:
    with pytest.raises(VerificationError, match=words):
        xrelay.compile(_module(**module), cache=False)
    with pytest.raises(VerificationError, match=words):
        xrelay.interpret(_module(**module), [np.zeros(4, np.float32)] * 2)
