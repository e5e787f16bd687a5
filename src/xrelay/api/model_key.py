"""The cache key of a compiled model: everything that determines its code."""

from __future__ import annotations

import os
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final

from xrelay.api.code_stamp import code_stamp
from xrelay.arguments import checked_shapes
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.environment import call_limit
from xrelay.errors import XRelayError
from xrelay.runtime.cache import FileRecord, file_mark, steady_status
from xrelay.runtime.digests import Source as Content
from xrelay.runtime.digests import content_key, sources_key
from xrelay.runtime.files import open_regular, read_bytes
from xrelay.target.target import Target

if TYPE_CHECKING:
    from xrelay.api.sources import Shapes, Source

_CONTENTS: Final = FileRecord("contents")
_ELSEWHERE: Final = "elsewhere"
"""The record of a file that does not contain all of its model."""


def model_key(
    source: Source, target: Target, opt_level: int, shapes: Shapes | None, *, integers: bool = False
) -> str | None:
    """Returns the cache key of a compilation; `None` if it has none and must not be cached.

    There is no key if the content of the source cannot be determined cheaply, if the program has registered code of its
    own, or if a plugin was edited since the process began: the loaded code is then unknown.
    """
    stamp = code_stamp()
    if not stamp.covers_all():
        return None
    content = _content(source)
    if content is None:
        return None
    machine = f"{target} {target.threads} {','.join(target.code_features())}"
    options = (
        f"O{opt_level}{' integers' if integers else ''} calls {call_limit()} {sorted(checked_shapes(shapes).items())}"
    )
    return content_key([stamp.text, machine, options, content])


def _content(source: Source) -> bytes | str | None:
    """Returns the content of the program, weights included; ONNX files of equal content are equal."""
    if isinstance(source, str | PathLike):
        path = Path(source)
        try:
            return _file_key(path)
        except (OSError, ValueError, EOFError):
            return None  # absent, unreadable or empty: loading it reports the fault
    if isinstance(source, bytes):
        return source
    serialize = getattr(source, "SerializeToString", None)
    if serialize is not None:
        return serialize(deterministic=True)
    return _module_key(source)


def _module_key(source: object) -> str | None:
    """Returns the key of a module: its text, and the data of its weights, which the text only names.

    Returns `None` if the source is not a module or cannot be printed.
    """
    from xdsl.dialects.builtin import ModuleOp

    from xrelay.dialects.relay.structure.weights import weights_of
    from xrelay.passes.infra.module_digest import module_digest_text

    if not isinstance(source, ModuleOp):
        return None  # not a source: loading it reports that
    try:
        return content_key([module_digest_text(source), *(weight.content for weight in weights_of(source))])
    except XRelayError:
        return None


def _file_key(path: Path) -> str | None:
    """Returns the key of a file's bytes; `None` if parts of the model are in other files.

    The key is cached for the state of the file, so that large files are read once.
    """
    # An ONNX model names files of external data under the key "location". A text names its side file in this attribute,
    # whose name may be written with escapes.
    elsewhere = [b"location"] if path.suffix == ".onnx" else [WEIGHTS_FILE.encode(), b"\\"]
    with open_regular(path) as descriptor:
        status = os.fstat(descriptor)
        known = _CONTENTS.get(file_mark(status, [path.suffix]))
        if known is None:
            steady = steady_status(descriptor)
            known = _bytes_key(descriptor, status.st_size, elsewhere) or _ELSEWHERE
            mark = file_mark(os.fstat(descriptor), [path.suffix])
            if steady is not None and file_mark(steady, [path.suffix]) == mark:
                _CONTENTS.put(mark, known)
    if known == _ELSEWHERE:
        return None
    # Locations in a text contain its file name; those in an ONNX model are nodes.
    return known if path.suffix == ".onnx" else f"{path} {known}"


def _bytes_key(descriptor: int, size: int, elsewhere: Sequence[bytes]) -> str | None:
    """Returns the key of an open file's bytes; `None` if one of `elsewhere` occurs in it."""
    found: list[int] = []
    overlap = max(map(len, elsewhere)) - 1

    def read(begin: int, end: int) -> memoryview:
        data = read_bytes(descriptor, begin, min(size, end + overlap))
        if any(word in data for word in elsewhere):
            found.append(begin)
        return memoryview(data)[: end - begin]

    key = sources_key([Content(size, read)])
    return None if found else content_key([str(size), key])
