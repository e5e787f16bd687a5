"""The key of a compiled model in the cache: everything that decides its code."""

from __future__ import annotations

import os
from os import PathLike
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.api.code_stamp import code_stamp
from xrelay.api.sources import Shapes, Source
from xrelay.arguments import checked_shapes
from xrelay.dialects.attribute_names import WEIGHTS_FILE
from xrelay.environment import call_limit
from xrelay.errors import XRelayError
from xrelay.passes.infra.printing import print_module
from xrelay.passes.layout.layout_hooks import in_layout_hook_scope
from xrelay.runtime.digests import Source as Content
from xrelay.runtime.digests import content_key, sources_key
from xrelay.runtime.files import open_regular, read_bytes
from xrelay.target.target import Target


def model_key(source: Source, target: Target, opt_level: int, shapes: Shapes | None) -> str | None:
    """The key of a compilation; `None` for one that has none, and is therefore compiled anew.

    That is a source whose content cannot be told cheaply, and any source where a program has registered something that
    may take part, or where a plugin was edited since the process began: nothing tells what that code was.
    """
    stamp = code_stamp()
    if in_layout_hook_scope() or not stamp.covers_all():
        return None
    content = _content(source)
    if content is None:
        return None
    machine = f"{target} {target.threads} {','.join(target.code_features())}"
    options = f"O{opt_level} calls {call_limit()} {sorted(checked_shapes(shapes).items())}"
    return content_key([stamp.text, machine, options, content])


def _content(source: Source) -> bytes | str | None:
    """Everything the program consists of, weights included."""
    if isinstance(source, ModuleOp):
        try:
            return print_module(source)
        except XRelayError:
            return None
    if not isinstance(source, str | PathLike):
        serialize = getattr(source, "SerializeToString", None)
        return None if serialize is None else serialize(deterministic=True)  # None: no source, loading it says so
    path = Path(source)
    # A model with external data names its files under the key "location", a text its side file in this attribute.
    elsewhere = b"location" if path.suffix == ".onnx" else WEIGHTS_FILE.encode()
    try:
        digest = _file_digest(path, elsewhere)
        return None if digest is None else f"{path.stem} {digest}"  # messages name the model after its file
    except (OSError, ValueError, EOFError):
        return None  # absent, unreadable or empty: loading it says what is wrong


def _file_digest(path: Path, elsewhere: bytes) -> str | None:
    """The key of the bytes of a file; `None` where `elsewhere` occurs in it."""
    found: list[int] = []
    with open_regular(path) as descriptor:
        size = os.fstat(descriptor).st_size

        def read(begin: int, end: int) -> memoryview:
            data = read_bytes(descriptor, begin, min(size, end + len(elsewhere) - 1))
            if elsewhere in data:
                found.append(begin)
            return memoryview(data)[: end - begin]

        key = sources_key([Content(size, read)])
    return None if found else content_key([str(size), key])
