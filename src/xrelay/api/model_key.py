"""The cache key of a compiled model: everything that determines its code.

The code of the compiler is represented by a stamp, which is computed once per process. It covers Python, xrelay's own
files, the versions of the packages it depends on, and, for each package with plugins, all its files and the versions of
its requirements. A file is represented by its size and modification time, since reading it takes too long.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from xrelay import registrations
from xrelay import version as own_version
from xrelay.api.code_files import CODE, files_below
from xrelay.arguments import checked_shapes
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.environment import call_limit
from xrelay.errors import XRelayError
from xrelay.installed_packages import FOUNDATIONS, installed_packages
from xrelay.registrations import in_registration_scope, registering_modules
from xrelay.runtime.cache import FileRecord, file_mark, steady_status
from xrelay.runtime.digests import Source as Content
from xrelay.runtime.digests import content_key, sources_key
from xrelay.runtime.files import open_regular, read_bytes
from xrelay.target.target import Target
from xrelay.version import __version__

if TYPE_CHECKING:
    from xrelay.api.sources import Shapes, Source


@dataclass(frozen=True)
class CodeStamp:
    """Text that changes with the code, and the plugin files that it covers."""

    text: str
    plugin_files: frozenset[str]
    is_settled: bool
    """Whether no plugin file changed after this process began; otherwise loaded code may be older than its file."""

    def covers_all(self) -> bool:
        """Whether the stamp covers all code: no file has changed, and the program itself has registered nothing."""
        if in_registration_scope():
            return False
        return self.is_settled and all(_real_file(name) in self.plugin_files for name in registering_modules())


@cache
def code_stamp() -> CodeStamp:
    """Returns the stamp of this process."""
    installed, versions, files = installed_packages(), list[str](), list[str]()
    if installed.announce:
        from xrelay.api.plugin_packages import plugin_packages

        versions, files = plugin_packages()
    own, states = files_below(Path(own_version.__file__).parent, CODE), [_state(path) for path in files]
    parts = [sys.version, __version__, *(f"{name} {installed.versions[name]}" for name in FOUNDATIONS), *versions]
    parts += (_state(path).text for path in own)
    parts += (state.text for state in states)
    settled = all(state.changed < registrations.BEGAN_NANOSECONDS for state in states)
    return CodeStamp(content_key(parts), frozenset(map(os.path.realpath, files)), settled)


class _State(NamedTuple):
    """The directory entry of a file: its stamp text and modification time."""

    text: str
    changed: int


def _state(path: str) -> _State:
    """Returns the path of a file with its size and modification time."""
    try:
        status = os.stat(path)
    except OSError:
        return _State(f"{path} absent", 0)
    return _State(f"{path} {status.st_size} {status.st_mtime_ns}", status.st_mtime_ns)


def _real_file(module: str) -> str:
    """Returns the file that a module was loaded from; empty if it has none, as in an interactive session."""
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.realpath(file) if isinstance(file, str) else ""


_CONTENTS: Final = FileRecord("contents")
_EXTERNAL_FILES: Final = "elsewhere"
"""The record of a file that does not contain all of its model."""


def model_key(
    digest: str | None,
    target: Target,
    opt_level: int,
    shapes: Shapes | None,
    *,
    integers: bool = False,
    exact: bool = False,
    sizes: Mapping[str, int] | None = None,
    records: Path | None = None,
) -> str | None:
    """Returns the cache key of a compilation; `None` if it has none and must not be cached.

    `digest` is the `content_digest` of the source, `sizes` are sizes that replace dimensions of a module, and `records`
    is a file of tuning records. There is no key if the digest is unknown, if the records cannot be read, if the program
    has registered code of its own, or if a plugin was edited since the process began: the loaded code is then unknown.
    """
    stamp = code_stamp()
    if digest is None or not stamp.covers_all():
        return None
    machine = f"{target} {target.threads} {','.join(target.code_features())}"
    flags = f"{' integers' if integers else ''}{' exact' if exact else ''}"
    options = f"O{opt_level}{flags} calls {call_limit()} {sorted(checked_shapes(shapes).items())}"
    at = "" if not sizes else f" at {sorted(sizes.items())}"
    tuned = "" if records is None else _records_digest(records)
    return None if tuned is None else content_key([stamp.text, machine, options + at + tuned, digest])


def _records_digest(path: Path) -> str | None:
    """Returns the digest of a file of tuning records; `None` if it cannot be read, which compiling reports."""
    try:
        return f" records {content_key([path.read_bytes()])}"
    except OSError:
        return None


def content_digest(source: Source) -> str | None:
    """Returns the digest of a program, weights included; `None` if it cannot be determined cheaply."""
    content = _content(source)
    return content if content is None or isinstance(content, str) else content_key([content])


def file_state(path: Path) -> str:
    """Returns the directory entry of a file as text, which changes with its content."""
    return _state(os.path.abspath(path)).text


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
            known = _bytes_key(descriptor, status.st_size, elsewhere) or _EXTERNAL_FILES
            mark = file_mark(os.fstat(descriptor), [path.suffix])
            if steady is not None and file_mark(steady, [path.suffix]) == mark:
                _CONTENTS.put(mark, known)
    if known == _EXTERNAL_FILES:
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
