"""xrelay and xDSL together: names are unique, xDSL's tools have our passes, and its passes run on our dialects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from xdsl.universe import XDSL_UNIVERSE, Universe

from xrelay.dialects import ALL_DIALECTS
from xrelay.lowering.registry import ALL_PASSES

BIN = Path(sys.executable).parent
PROGRAM = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %unused = relay.nn.relu(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %a = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = relay.exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %c = relay.add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  func.return %c : tensor<4xf32>
}
"""


def xdsl_opt(text: str, *flags: str) -> str:
    done = subprocess.run([BIN / "xdsl-opt", *flags], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_name_is_also_xdsls() -> None:
    assert not set(ALL_DIALECTS) & set(XDSL_UNIVERSE.all_dialects)
    assert not set(ALL_PASSES) & set(XDSL_UNIVERSE.all_passes)


def test_the_multiverse_holds_both() -> None:
    multiverse = Universe.get_multiverse()
    assert set(ALL_DIALECTS) <= set(multiverse.all_dialects)
    assert set(ALL_PASSES) <= set(multiverse.all_passes)


def test_xdsl_opt_runs_our_pass_on_our_dialect() -> None:
    assert "relay.exp" in xdsl_opt(PROGRAM, "-p", "relay-infer-type")


def test_upstream_passes_work_on_our_dialects() -> None:
    text = xdsl_opt(PROGRAM, "-p", "canonicalize,cse,dce")
    assert text.count("relay.exp") == 1
    assert "relay.nn.relu" not in text
