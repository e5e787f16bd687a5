"""What decides a compiled model: the key under which it lies in the cache."""

from __future__ import annotations

from functools import cache
from os import PathLike
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

import xrelay
from xrelay.api.sources import Shapes, Source
from xrelay.errors import XRelayError
from xrelay.passes.infra.instruments import print_module
from xrelay.plugins import plugin_stamp
from xrelay.runtime.cache import content_key
from xrelay.target.target import Target


def model_key(source: Source, target: Target, opt_level: int, shapes: Shapes | None) -> str | None:
    """The key of a compilation; None for a source whose content cannot be told cheaply (it is then compiled anew)."""
    content = _content(source)
    if content is None:
        return None
    options = f"{target} {target.threads} O{opt_level} {sorted((n, tuple(s)) for n, s in (shapes or {}).items())}"
    return content_key([xrelay.__version__, compiler_stamp(), plugin_stamp(), options, content])


@cache
def compiler_stamp() -> str:
    """Changes when the compiler's own code does: names, sizes and times of its files."""
    folder = Path(xrelay.__file__).parent
    parts: list[str] = []
    for root in sorted(path for path in folder.iterdir() if path.is_dir()):
        for path in sorted([*root.rglob("*.py"), *root.rglob("*.ll")]):
            status = path.stat()
            parts.append(f"{path.relative_to(folder)} {status.st_size} {status.st_mtime_ns}")
    return content_key(parts)


def _content(source: Source) -> bytes | str | None:
    """Everything the program consists of, weights included."""
    if isinstance(source, ModuleOp):
        try:
            return print_module(source)
        except XRelayError:
            return None
    if not isinstance(source, str | PathLike):
        return source.SerializeToString(deterministic=True)
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError:
        return None  # loading it says what is wrong
    if path.suffix == ".onnx":
        # A model with external data names its files under the key "location".
        return None if b"location" in data else data
    return None if b"relay.weights" in data else data
