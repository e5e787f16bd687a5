"""Generated files match the definitions of operators and converters; a type checker reads the stub of the operators."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from xrelay import relay
from xrelay.errors import ConstraintError
from xrelay.tools.import_tables import import_tables
from xrelay.tools.operator_stubs import STUB, operator_stubs

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
import numpy as np
from xrelay import relay
x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w")
relay.nn.conv2d(x, w, (2, 2), padding=1, channels=8, kernel_size=(3, 3), out_dtype="float32")
relay.add(x, np.ones(8)) + relay.sum(x, axis=1, keepdims=True)
relay.nn.conv2d(x, w, stride=2)
relay.nn.conv2d(x, w, data_layout=3)
relay.nn.conv2d(x)
relay.nn.conv4d(x, w)
relay.add(x, w, axis=1)
"""
WRONG = (7, 8, 9, 10, 11)


def test_the_stub_is_what_make_stubs_writes() -> None:
    assert (ROOT / STUB).read_text(encoding="utf-8") == operator_stubs(), "run make stubs"


def test_the_tables_of_modules_are_what_make_stubs_writes() -> None:
    for path, text in import_tables().items():
        assert (ROOT / path).read_text(encoding="utf-8") == text, "run make stubs"


def test_a_type_checker_finds_wrong_calls(tmp_path: Path) -> None:
    probe = tmp_path / "probe.py"
    probe.write_text(PROBE)
    checker = str(Path(sys.executable).parent / "basedpyright")
    command = [checker, "--pythonpath", sys.executable, "--outputjson", "--level", "error", str(probe)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert [entry["range"]["start"]["line"] + 1 for entry in found] == list(WRONG), found


def test_wrong_arguments_have_the_closest_name_at_run_time() -> None:
    x, w = relay.var("x", shape=(1, 3, 8, 8)), relay.var("w")
    with pytest.raises(ConstraintError, match="there is no argument 'stride'; help: did you mean 'strides'"):
        relay.nn.conv2d(x, w, stride=2)  # pyright: ignore
    with pytest.raises(ConstraintError, match="there is no argument 'wieght'; help: did you mean 'weight'"):
        relay.nn.conv2d(x, wieght=w)  # pyright: ignore
