"""The names of the package: complete, imported lazily, known to the type checker."""

from __future__ import annotations

import subprocess
import sys

import pytest

import xrelay


def test_every_public_name_is_there() -> None:
    assert all(getattr(xrelay, name) is not None for name in xrelay.__all__)
    assert {name for name in dir(xrelay) if not name.startswith("__")} == {*xrelay.__all__} - {"__version__"}


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'compil'") as caught:
        _ = xrelay.compil  # pyright: ignore
    assert (caught.value.name, caught.value.obj) == ("compil", xrelay), "Python then suggests a similar name"


def test_importing_the_package_imports_nothing_heavy() -> None:
    script = "import sys, xrelay; print([n for n in ('numpy', 'xdsl', 'onnx', 'llvmlite') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_running_a_model_needs_no_compiler() -> None:
    script = "import sys, xrelay; xrelay.load; print([n for n in ('xdsl', 'onnx') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
