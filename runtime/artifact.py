"""A compiled model as data: object code, tables and weights; in memory, or in one file (see `model_file`).

Nothing in a file is evaluated or unpickled. A file does contain native code, so load only files that you would execute.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Final

from numpy.typing import NDArray

from xrelay.errors import ArtifactError
from xrelay.runtime import llvm
from xrelay.runtime.arena import aligned
from xrelay.runtime.files import open_regular, write_file
from xrelay.runtime.metadata import ModelMetadata, TensorSpec, abi_stamp
from xrelay.runtime.model_file import ModelFile, Part, write_model
from xrelay.runtime.safetensors_file import reason
from xrelay.runtime.trust import file_fault

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

    def __post_init__(self) -> None:
        specs = self.metadata.weights
        if len(specs) != len(self.weights):
            raise ArtifactError(f"the table has {len(specs)} weights, got {len(self.weights)}")
        for spec, array in zip(specs, self.weights, strict=True):
            if array.dtype != spec.numpy_dtype or array.shape != spec.shape:
                got = TensorSpec(spec.name, str(array.dtype), array.shape)
                raise ArtifactError(f"weight '{spec.name}': expected {spec}, got {got}")
        object.__setattr__(self, "weights", tuple(aligned(array) for array in self.weights))

    def save(self, path: str | Path) -> None:
        """Writes the model to a file, replacing an existing one. Raises `ArtifactError` on failure."""
        try:
            write_file(Path(path), self.write)
        except OSError as error:
            raise ArtifactError(f"cannot write '{path}': {reason(error)}") from error

    def write(self, file: BinaryIO, key: str = "") -> None:
        """Writes the model to an open file; `key` is its key in the cache. Raises `OSError` on failure."""
        write_model(file, [Part(each.objects, each.metadata, each.weights) for each in self._all()], key)

    def _all(self) -> list[Artifact]:
        """Returns the model, followed by the models of its returned functions, each followed by its own."""
        found: list[Artifact] = []
        pending: list[Artifact] = [self]
        while pending:
            found.append(pending.pop())
            pending += reversed(found[-1].functions)
        return found

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

        Code and tables are checked against their digest. Weights are too: with `verify` on each load, else once per
        state of the file. `mmap` selects whether weights are mapped from the file or copied to memory; by default up to
        64 MiB are copied. A file that other users may write is refused unless `trust`. With a `key`, the file is an
        entry of the cache: it must have been written under this key, and must not be a link.

        Raises `ArtifactError`, which names the expected and actual values, if the file is damaged or truncated, of
        another format or ABI, or compiled for CPU features that this machine lacks.
        """
        path = Path(path)
        with _opened(path, follow=key is None) as descriptor:
            if not trust:
                check_trust(path, os.fstat(descriptor))
            file = ModelFile(path, descriptor, key=key)
            check_machine(file.metadata, str(path))
            return _assembled(file.parts(verify=verify, mapped=mmap))


def _assembled(parts: Sequence[Part]) -> Artifact:
    """Returns the model of parts that `Artifact.write` wrote; each is followed by one part per returned function."""
    done: list[Artifact] = []
    for part in reversed(parts):
        count = len(part.metadata.functions) if len(parts) > 1 else 0
        functions = tuple(done.pop() for _ in range(min(count, len(done))))
        done.append(Artifact(part.objects, part.metadata, part.weights, functions))
    return done[-1]


def read_metadata(path: Path) -> ModelMetadata:
    """Returns the tables of a saved file, for any machine. Raises `ArtifactError` if it is damaged."""
    with _opened(path) as descriptor:
        return ModelFile(path, descriptor).metadata


@contextmanager
def _opened(path: Path, *, follow: bool = True) -> Generator[int]:
    """Opens a file. Raises `ArtifactError` for any error with it."""
    try:
        with open_regular(path, follow=follow) as descriptor:
            yield descriptor
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
    present = llvm.host_features()
    missing = sorted(wanted - present) if present else []
    if missing:
        host = llvm.binding().get_host_cpu_name()
        shown = ", ".join(missing[:8]) + (", …" if len(missing) > 8 else "")
        raise ArtifactError(
            f"'{what}' is compiled for {metadata.cpu}, this machine is {host} and lacks {shown}", help=_RECOMPILE
        )
