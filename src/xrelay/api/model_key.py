"""The cache key of a compiled model: everything that determines its code.

The code of the compiler is represented by a stamp, which is computed once per process. It covers Python, xrelay's own
files, the versions of the packages it depends on, and, for each package with plugins, all its files and the versions of
its requirements. A file is represented by its size and modification time, since reading it takes too long.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution, entry_points, version
from importlib.util import find_spec
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from xrelay import version as own_version
from xrelay.arguments import checked_shapes
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.environment import call_limit
from xrelay.errors import XRelayError
from xrelay.registrations import BEGAN_NANOSECONDS, in_registration_scope, registering_modules
from xrelay.runtime.cache import FileRecord, file_mark, steady_status
from xrelay.runtime.digests import Source as Content
from xrelay.runtime.digests import content_key, sources_key
from xrelay.runtime.files import open_regular, read_bytes
from xrelay.target.target import Target
from xrelay.version import __version__

if TYPE_CHECKING:
    from xrelay.api.sources import Shapes, Source


OURS = "xrelay"
FOUNDATIONS = ("xdsl", "llvmlite", "numpy", "ml_dtypes", "onnx")
"""The packages that take part in a compilation."""
GROUPS = re.compile(r"xrelay\..*|xdsl\.universe")
"""The groups of entry points through which packages extend the compiler."""
_CODE = (".py", ".ll")
_EDITABLE = re.compile(r'"editable"\s*:\s*true')
_REQUIREMENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


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
    own = _files_below(Path(own_version.__file__).parent, _CODE)
    plugins = _plugin_packages()
    packages = _with_requirements(plugins)
    watched = {id(package): package for package in (*plugins, *filter(_is_editable, packages))}
    files = {path: None for package in watched.values() for path in _package_files(package)}
    parts = [
        sys.version,
        __version__,
        *(f"{name} {_version(name)}" for name in FOUNDATIONS),
        *(f"{each.name} {each.version}" for each in packages),
        *(_state(path).text for path in own),
    ]
    states = [_state(path) for path in sorted(files)]
    settled = all(state.changed < BEGAN_NANOSECONDS for state in states)
    parts += (state.text for state in states)
    return CodeStamp(content_key(parts), frozenset(map(os.path.realpath, files)), settled)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def _plugin_packages() -> list[Distribution]:
    """Returns the packages that announce an extension, by name, without xrelay and its dependencies."""
    found: dict[str, Distribution] = {}
    known = entry_points()
    for group in filter(GROUPS.fullmatch, known.groups):
        for entry in known.select(group=group):
            if entry.dist is not None:
                found.setdefault(_normal(entry.dist.name), entry.dist)
    return [found[name] for name in sorted(found.keys() - {OURS, *map(_normal, FOUNDATIONS)})]


def _with_requirements(packages: Iterable[Distribution]) -> list[Distribution]:
    """Returns packages and their installed direct and indirect requirements, by name."""
    found: dict[str, Distribution] = {}
    pending = list(packages)
    while pending:
        package = pending.pop()
        name = _normal(package.name)
        if name in found or name == OURS:
            continue
        found[name] = package
        for requirement in package.requires or ():
            match = _REQUIREMENT.match(requirement)
            try:
                pending += [distribution(match[0])] if match else []
            except PackageNotFoundError:
                continue  # required by an extra that is not installed
    return [found[name] for name in sorted(found)]


def _package_files(package: Distribution) -> Iterator[str]:
    """Yields all files of a package: those it lists, those below its modules, and the folders of an editable package.

    An editable package lists either a `.pth` file with folders of the import path, or a finder for its modules.
    """
    modules = set((package.read_text("top_level.txt") or "").split())
    modules |= {entry.module.partition(".")[0] for entry in package.entry_points if GROUPS.fullmatch(entry.group)}
    for listed in package.files or ():
        path = Path(str(package.locate_file(listed)))
        if path.suffix != ".pyc":
            yield str(path)
        if path.suffix == ".pth" and path.is_file():
            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            for folder in (Path(line) for line in lines if line and not line.startswith(("import ", "import\t", "#"))):
                yield from _files_below(folder, _CODE)
    for module in sorted(modules):
        yield from _module_files(module)


def _module_files(name: str) -> Iterator[str]:
    """Yields the file of a module, or all files of a package, without importing it."""
    try:
        spec = find_spec(name)
    except (ImportError, ValueError):
        return  # loading the plugin reports the fault
    if spec is None:
        return
    for folder in spec.submodule_search_locations or ():
        yield from _files_below(Path(folder))
    if spec.origin is not None:
        yield spec.origin


def _files_below(folder: Path, suffixes: tuple[str, ...] = ("",)) -> list[str]:
    """Returns the sorted files below a folder, following links, without hidden folders, bytecode and environments."""
    found: list[str] = []
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        status = os.stat(place)
        if (status.st_dev, status.st_ino) in seen or "pyvenv.cfg" in files:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        found += (os.path.join(place, name) for name in files if name.endswith(suffixes))
    return sorted(found)


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


def _is_editable(package: Distribution) -> bool:
    """Whether a package is installed in editable mode."""
    return _EDITABLE.search(package.read_text("direct_url.json") or "") is not None


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


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
