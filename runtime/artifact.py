"""A compiled model as data: object code, tables and weights; in memory, or in one file.

The file is a safetensors file with tensors `object.N` (bytes of object code) and `weight.N`. Its metadata strings are
the format version, the tables as JSON, the cache key of the model, and two digests. One digest covers all weights. The
other covers everything else, including the first digest and the positions of the tensors, and is checked before the
file is used. The digest of the weights is checked once, and again only after a change of the file's status.

If the model returns functions, the models that call them are in the file too: their tables are further strings, and the
names of their tensors begin with `function.M.`. So are its versions for certain sizes, as `version.M.`. A string lists
the weights of a version: `-` for one of its own, else the index of a weight of the model, which is stored once.

Nothing in a file is evaluated or unpickled. A file does contain native code, so load only files that you would execute.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from xrelay.errors import ArtifactError
from xrelay.runtime.arena import align, aligned_bytes
from xrelay.runtime.cache import FileRecord, file_mark, steady_status
from xrelay.runtime.digests import Source, content_key, sources_key
from xrelay.runtime.files import open_regular, read_bytes, read_into, write_file
from xrelay.runtime.host_cpu import host_cpu, host_features
from xrelay.runtime.metadata import FORMAT_VERSION, ModelMetadata, TensorSpec, abi_stamp
from xrelay.runtime.safetensors_file import SafetensorsWriter, header_text, map_file, read_header, reason
from xrelay.runtime.trust import file_fault

FORMAT_KEY: Final = "xrelay.format"
MODEL_KEY: Final = "xrelay.model"
CACHE_KEY: Final = "xrelay.key"
SHARED_WEIGHTS: Final = "xrelay.shared"
WEIGHTS_DIGEST: Final = "xrelay.weights_digest"
DIGEST: Final = "xrelay.digest"
_FUNCTION: Final = "function."
_VERSION: Final = "version."
_OWN: Final = "-"
_VERIFIED: Final = FileRecord("verified")
"""The files whose weights were checked against their digest."""
_RECOMPILE_HELP: Final = "compile the model again with this version"
COPIED_UP_TO: Final = 64 << 20
"""The size up to which weights are copied to memory by default; larger weights are mapped."""


def _write_models(file: BinaryIO, parts: Mapping[str, Artifact], key: str) -> None:
    """Writes models by prefix; that without prefix comes first. `key` is that of the cache, or empty."""
    tensors: dict[str, NDArray[Any]] = {}
    weights: list[NDArray[Any]] = []
    strings = {FORMAT_KEY: str(FORMAT_VERSION)}
    shared = {id(array): str(i) for i, array in enumerate(parts[""].weights)}
    for prefix, part in parts.items():
        strings[_key(MODEL_KEY, prefix)] = part.metadata.to_json()
        known = shared if prefix.startswith(_VERSION) else {}
        if known:
            strings[_key(SHARED_WEIGHTS, prefix)] = " ".join(known.get(id(array), _OWN) for array in part.weights)
        for i, code in enumerate(part.objects):
            tensors[f"{prefix}object.{i}"] = np.frombuffer(code, np.uint8)
        for i, array in enumerate(part.weights):
            if id(array) not in known:
                tensors[f"{prefix}weight.{i}"] = array
                weights.append(array)
    strings |= {CACHE_KEY: key, WEIGHTS_DIGEST: sources_key(map(_array_source, weights))}
    writer = SafetensorsWriter(tensors, strings)
    writer.add_metadata(DIGEST, code_digest(writer.header, [code for part in parts.values() for code in part.objects]))
    writer.write(file)


def _key(stem: str, prefix: str) -> str:
    """Returns the key of a string of the part whose tensors have this prefix."""
    return f"{stem}.{prefix.removesuffix('.')}" if prefix else stem


def _prefixes(strings: Mapping[str, str]) -> list[str]:
    """Returns the prefixes of the parts of a file, in order."""
    counts = [(kind, sum(key.startswith(f"{MODEL_KEY}.{kind}") for key in strings)) for kind in (_FUNCTION, _VERSION)]
    return ["", *(f"{kind}{number}." for kind, count in counts for number in range(count))]


def code_digest(header: Mapping[str, object], objects: Sequence[bytes]) -> str:
    """Returns the digest over code and tables: object code, and the header without the digest itself."""
    return content_key((header_text(header, without=DIGEST), *objects))


def _array_source(array: NDArray[Any]) -> Source:
    data = np.asarray(array, order="C").reshape(-1).view(np.uint8).data

    def read(begin: int, end: int) -> memoryview:
        return data[begin:end]

    return Source(len(data), read)


class ModelFile:
    """An open file with a model; its header, code and tables are read and checked.

    Raises `ArtifactError` if the file is not a saved model, of another format, damaged, or of another key than
    expected, and `EOFError` and `OSError` if reading fails.
    """

    metadata: ModelMetadata
    """The tables of the first part."""
    versions: list[ModelMetadata]
    """The tables of its versions."""

    def __init__(self, path: Path, descriptor: int, *, key: str | None = None):
        """Reads everything but the weights from an open file; `path` names it in errors."""
        self._path, self._descriptor = path, descriptor
        self._status = os.fstat(descriptor)
        self._header = read_header(path, descriptor)
        self._check_version()
        strings = self._header.metadata
        self._prefixes = _prefixes(strings)
        ranges = [self._object_ranges(prefix) for prefix in self._prefixes]
        self._objects = [tuple(bytes(read_bytes(descriptor, *place)) for place in each) for each in ranges]
        if code_digest(self._header.fields, [code for each in self._objects for code in each]) != strings.get(DIGEST):
            raise ArtifactError(f"'{path}' is damaged: code and tables do not match their digest", help=_RECOMPILE_HELP)
        if key is not None and strings.get(CACHE_KEY) != key:
            raise ArtifactError(f"'{path}' has another cache key: '{strings.get(CACHE_KEY)}'", help=_RECOMPILE_HELP)
        self._tables = [ModelMetadata.from_json(strings.get(_key(MODEL_KEY, prefix), "")) for prefix in self._prefixes]
        self.metadata = self._tables[0]
        pairs = zip(self._prefixes, self._tables, strict=True)
        self.versions = [tables for prefix, tables in pairs if prefix.startswith(_VERSION)]

    def model(self, *, verify: bool, mapped: bool | None) -> Artifact:
        """Returns the model in the file, with its functions and versions.

        Weights are read-only, mapped from the file or copied to memory; `None` copies small ones. They are checked
        against their digest on each load with `verify`, else unless the cache records a check of the unchanged file.
        """
        places = self._weight_ranges()
        ranges = list(places.values())
        is_known = not ranges or (not verify and _VERIFIED.get(self._mark(self._status)) is not None)
        steady = None if is_known else steady_status(self._descriptor)
        if mapped is None:
            mapped = sum(end - begin for begin, end in ranges) > COPIED_UP_TO
        if mapped:
            data = map_file(self._descriptor) if ranges else np.empty(0, np.uint8)
            arrays = [data[begin:end] for begin, end in ranges]
            sources = [self._source(begin, end) for begin, end in ranges]
        else:
            arrays = self._copied(ranges)
            sources = [_array_source(array) for array in arrays]
        if not is_known:
            self._verify(sources, steady)
        data_of = dict(zip(places, arrays, strict=True))
        found: dict[str, Artifact] = {}
        for prefix, objects, tables in zip(self._prefixes, self._objects, self._tables, strict=True):
            weights: list[NDArray[Any]] = []
            for i, (shared, spec) in enumerate(zip(self._shared(prefix, tables), tables.weights, strict=True)):
                own = data_of.get(f"{prefix}weight.{i}")
                weights.append(found[""].weights[shared] if own is None else _typed(own, spec))
            found[prefix] = Artifact(objects, tables, tuple(weights))
        versions = tuple(found.pop(prefix) for prefix in self._prefixes if prefix.startswith(_VERSION))
        model = _assemble([*found.values()])
        return replace(model, versions=versions) if versions else model

    def _check_version(self) -> None:
        strings = self._header.metadata
        version = strings.get(FORMAT_KEY)
        if version is None or MODEL_KEY not in strings:
            raise ArtifactError(f"'{self._path}' is a safetensors file but not a saved model")
        if version != str(FORMAT_VERSION):
            raise ArtifactError(
                f"'{self._path}' has format {version}, this version of xrelay reads {FORMAT_VERSION}",
                help=_RECOMPILE_HELP,
            )

    def _object_ranges(self, prefix: str) -> list[tuple[int, int]]:
        tensors = self._header.tensors
        count = sum(name.startswith(f"{prefix}object.") for name in tensors)
        ranges = [tensors.get(f"{prefix}object.{i}") for i in range(count)]
        found = [place for place in ranges if place is not None]
        if not found or len(found) != count:
            raise ArtifactError(f"'{self._path}' is damaged: object code is missing", help=_RECOMPILE_HELP)
        return found

    def _shared(self, prefix: str, tables: ModelMetadata) -> list[int]:
        """Returns for each weight of a part the index of the model's weight that it is; -1 for its own.

        Raises `ArtifactError` if there is no such weight of this type.
        """
        text = self._header.metadata.get(_key(SHARED_WEIGHTS, prefix), "") if prefix.startswith(_VERSION) else ""
        indices = [int(word) if word.isdecimal() else -1 for word in text.split()] or [-1] * len(tables.weights)
        known = self.metadata.weights
        pairs = list(zip(indices, tables.weights, strict=False))
        if len(indices) != len(tables.weights) or any(
            i >= len(known) or (i >= 0 and (known[i].dtype, known[i].shape) != (spec.dtype, spec.shape))
            for i, spec in pairs
        ):
            raise ArtifactError(
                f"'{self._path}' is damaged: a version shares weights that do not exist", help=_RECOMPILE_HELP
            )
        return indices

    def _weight_ranges(self) -> dict[str, tuple[int, int]]:
        """Returns the places of the weights by name, without those that versions share.

        Raises `ArtifactError` if the size of one does not match its type.
        """
        ranges: dict[str, tuple[int, int]] = {}
        for prefix, tables in zip(self._prefixes, self._tables, strict=True):
            for i, (shared, spec) in enumerate(zip(self._shared(prefix, tables), tables.weights, strict=True)):
                if shared >= 0:
                    continue
                begin, end = self._header.tensors.get(f"{prefix}weight.{i}", (0, -1))
                if end - begin != spec.nbytes:
                    size = f"{end - begin} bytes" if end >= begin else "nothing"
                    text = f"weight '{spec.name}' is {spec}, the file has {size}"
                    raise ArtifactError(f"'{self._path}' is damaged: {text}")
                ranges[f"{prefix}weight.{i}"] = begin, end
        return ranges

    def _copied(self, ranges: list[tuple[int, int]]) -> list[NDArray[np.uint8]]:
        """Returns the bytes at places, in one block of memory with the same alignment as in the file."""
        first = min((begin for begin, _ in ranges), default=0)
        block = aligned_bytes(max((end for _, end in ranges), default=0) - first)
        read_into(self._descriptor, first, block.data)
        block.flags.writeable = False
        return [block[begin - first : end - first] for begin, end in ranges]

    def _source(self, begin: int, end: int) -> Source:
        """Returns a part of the file. It is read and not mapped, because the file may be truncated meanwhile."""

        def read(first: int, last: int) -> bytearray:
            return read_bytes(self._descriptor, begin + first, begin + last)

        return Source(end - begin, read)

    def _verify(self, sources: Sequence[Source], steady: os.stat_result | None) -> None:
        """Checks the weights against their digest, and records this if the file did not change meanwhile."""
        digest = self._header.metadata.get(WEIGHTS_DIGEST, "")
        if sources_key(sources) != digest:
            raise ArtifactError(
                f"'{self._path}' is damaged: the weights do not match their digest", help=_RECOMPILE_HELP
            )
        mark = self._mark(os.fstat(self._descriptor))
        if steady is not None and self._mark(steady) == mark:
            _VERIFIED.put(mark, digest)

    def _mark(self, status: os.stat_result) -> str:
        return file_mark(status, [self._header.metadata.get(WEIGHTS_DIGEST, "")])


def _typed(data: NDArray[np.uint8], spec: TensorSpec) -> NDArray[Any]:
    return data.view(spec.numpy_dtype).reshape(spec.known_shape)


_RECOMPILE: Final = "compile the model again on this machine"


@dataclass(frozen=True, eq=False)
class Artifact:
    """Object code, tables and weights of a model.

    `weights` are in the order of `metadata.weights`, each contiguous and aligned to 64 bytes; others are copied. Raises
    `ArtifactError` if number, dtype or shape differ from the table.
    """

    objects: tuple[bytes, ...]
    metadata: ModelMetadata
    weights: tuple[NDArray[Any], ...] = ()
    functions: tuple[Artifact, ...] = ()
    """The models that call the outputs that are functions, in their order; the function is their first input."""
    versions: tuple[Artifact, ...] = ()
    """The same model without named dimensions, for certain sizes."""

    def __post_init__(self) -> None:
        specs = self.metadata.weights
        if len(specs) != len(self.weights):
            raise ArtifactError(f"the table has {len(specs)} weights, got {len(self.weights)}")
        for spec, array in zip(specs, self.weights, strict=True):
            if array.dtype != spec.numpy_dtype or array.shape != spec.shape:
                got = TensorSpec(spec.name, str(array.dtype), array.shape)
                raise ArtifactError(f"weight '{spec.name}': expected {spec}, got {got}")
        object.__setattr__(self, "weights", tuple(align(array) for array in self.weights))

    def save(self, path: str | Path) -> None:
        """Writes the model to a file, replacing an existing one. Raises `ArtifactError` on failure."""
        try:
            write_file(Path(path), self.write)
        except OSError as error:
            raise ArtifactError(f"cannot write '{path}': {reason(error)}") from error

    def write(self, file: BinaryIO, key: str = "") -> None:
        """Writes the model to an open file; `key` is its key in the cache. Raises `OSError` on failure."""
        _write_models(file, self._all_models(), key)

    def _all_models(self) -> dict[str, Artifact]:
        """Returns the model, its returned functions, each followed by those of its own, and its versions."""
        found: list[Artifact] = []
        pending: list[Artifact] = [self]
        while pending:
            found.append(pending.pop())
            pending += reversed(found[-1].functions)
        functions = {f"{_FUNCTION}{number}.": each for number, each in enumerate(found[1:])}
        return {"": self, **functions, **{f"{_VERSION}{number}.": each for number, each in enumerate(self.versions)}}

    @staticmethod
    def load(
        path: str | Path,
        *,
        verify: bool = False,
        mmap: bool | None = None,
        trust: bool = False,
        key: str | None = None,
    ) -> Artifact:
        """Reads a file that `save` wrote, and checks that this machine can run it.

        Code and tables are checked against their digest. Weights are too: on each load with `verify`, else once, and
        again after a change of the file's status. `mmap` selects whether weights are mapped from the file or copied to
        memory; by default up to 64 MiB are copied. A file that other users may write is refused unless `trust`. With a
        `key`, the file is an entry of the cache: it must have been written under this key, and must not be a link.

        Raises `ArtifactError`, which names the expected and actual values, if the file is damaged or truncated, of
        another format or ABI, or compiled for CPU features that this machine lacks.
        """
        path = Path(path)
        with _opened(path, follow=key is None) as descriptor:
            if not trust:
                check_trust(path, os.fstat(descriptor))
            file = ModelFile(path, descriptor, key=key)
            check_machine(file.metadata, str(path))
            return file.model(verify=verify, mapped=mmap)


def _assemble(models: Sequence[Artifact]) -> Artifact:
    """Returns the first model with its functions; each model is followed by those of its returned functions."""
    if len(models) == 1:
        return models[0]
    done: list[Artifact] = []
    for model in reversed(models):
        count = len(model.metadata.functions)
        done.append(replace(model, functions=tuple(done.pop() for _ in range(min(count, len(done))))))
    return done[-1]


def read_metadata(path: Path) -> tuple[ModelMetadata, list[ModelMetadata]]:
    """Returns the tables of a model in a file and of its versions. Raises `ArtifactError` if the file is damaged."""
    with _opened(path) as descriptor:
        file = ModelFile(path, descriptor)
        return file.metadata, file.versions


@contextmanager
def _opened(path: Path, *, follow: bool = True) -> Generator[int]:
    """Opens a file. Raises `ArtifactError` for any error with it; errors without help get one."""
    try:
        with open_regular(path, follow=follow) as descriptor:
            yield descriptor
    except ArtifactError as error:
        error.help = error.help or _RECOMPILE_HELP
        raise
    except EOFError as error:
        raise ArtifactError(f"'{path}' was truncated while it was read: {error}") from error
    except (OSError, ValueError) as error:
        raise ArtifactError(f"cannot open '{path}': {reason(error)}") from error


def check_trust(path: Path, status: os.stat_result) -> None:
    """Raises `ArtifactError` if others may write a file with native code; `status` is that of the open file."""
    fault = file_fault(path, status)
    if fault is not None:
        hint = "remove their write access (chmod, chown), or load it with trust=True (--trust)"
        raise ArtifactError(f"'{path}' contains native code and other users can write it: {fault}", help=hint)


def check_machine(metadata: ModelMetadata, what: str) -> None:
    """Raises `ArtifactError` if the code cannot run on this machine: another ABI, or missing CPU features."""
    if metadata.abi != abi_stamp():
        raise ArtifactError(f"'{what}' has ABI {metadata.abi}, this machine {abi_stamp()}", help=_RECOMPILE)
    wanted = {feature[1:] for feature in metadata.features.split(",") if feature.startswith("+")}
    if not wanted:
        return
    present = host_features()
    missing = sorted(wanted - present) if present else []
    if missing:
        shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        raise ArtifactError(
            f"'{what}' is compiled for {metadata.cpu}, this machine is {host_cpu().name} and lacks {shown}",
            help=_RECOMPILE,
        )
