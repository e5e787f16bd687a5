"""A compiled model as data: object code, tables and weights; in memory, or in one file (see `model_file`).

Nothing in a file is evaluated or unpickled; but a file carries native code, so load only what you would run.
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

    `weights` are in the order of `metadata.weights`, each contiguous and aligned to 64 bytes (copied where the given
    one is not); `ArtifactError` where number, dtype or shape differ from the table.
    """

    objects: tuple[bytes, ...]
    metadata: ModelMetadata
    weights: tuple[NDArray[Any], ...] = ()
    functions: tuple[Artifact, ...] = ()
    """The models that call the outputs which are functions, in their order: the function is their first input."""

    def __post_init__(self) -> None:
        specs = self.metadata.weights
        if len(specs) != len(self.weights):
            raise ArtifactError(f"the table names {len(specs)} weights, {len(self.weights)} are given")
        for spec, array in zip(specs, self.weights, strict=True):
            if array.dtype != spec.numpy_dtype or array.shape != spec.shape:
                got = TensorSpec(spec.name, str(array.dtype), array.shape)
                raise ArtifactError(f"weight '{spec.name}': expected {spec}, got {got}")
        object.__setattr__(self, "weights", tuple(aligned(array) for array in self.weights))

    def save(self, path: str | Path) -> None:
        """Write the model to a file, replacing one that is there; `ArtifactError` where that cannot be done."""
        try:
            write_file(Path(path), self.write)
        except OSError as error:
            raise ArtifactError(f"cannot write '{path}': {reason(error)}") from error

    def write(self, file: BinaryIO, key: str = "") -> None:
        """Write the model to an open file; `key` is that of the cache. `OSError` passes through."""
        write_model(file, [Part(each.objects, each.metadata, each.weights) for each in self._all()], key)

    def _all(self) -> list[Artifact]:
        """The model, and behind it those that call the functions that it gives, each with its own behind it."""
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
        """Read a file that `save` wrote and check that this machine can run it.

        Code and tables are checked against their digest; weights as well, with `verify` whenever the file is loaded,
        else once for each state of it. `mmap` says whether weights are used where the mapped file has them or are
        copied to memory; left out, up to 64 MiB are copied. A file that somebody else may write is refused but with
        `trust`. A `key` is that of the cache: the file must have been written under it, and be no link.

        `ArtifactError` names both sides where the file is damaged or truncated, of another format or ABI, or compiled
        for a CPU with features that this one lacks.
        """
        path = Path(path)
        with _opened(path, follow=key is None) as descriptor:
            if not trust:
                check_trust(path, os.fstat(descriptor))
            file = ModelFile(path, descriptor, key=key)
            check_machine(file.metadata, str(path))
            return _assembled(file.parts(verify=verify, mapped=mmap))


def _assembled(parts: Sequence[Part]) -> Artifact:
    """The model of parts that `Artifact.write` wrote: each has as many behind it as it gives functions, and so on."""
    done: list[Artifact] = []
    for part in reversed(parts):
        count = len(part.metadata.functions) if len(parts) > 1 else 0
        functions = tuple(done.pop() for _ in range(min(count, len(done))))
        done.append(Artifact(part.objects, part.metadata, part.weights, functions))
    return done[-1]


def read_metadata(path: Path) -> ModelMetadata:
    """The tables of a file that `Artifact.save` wrote, for whichever machine; `ArtifactError` where it is damaged."""
    with _opened(path) as descriptor:
        return ModelFile(path, descriptor).metadata


@contextmanager
def _opened(path: Path, *, follow: bool = True) -> Generator[int]:
    """An open file; what goes wrong with it is an `ArtifactError`."""
    try:
        with open_regular(path, follow=follow) as descriptor:
            yield descriptor
    except EOFError as error:
        raise ArtifactError(f"'{path}' was cut short while it was read: {error}") from error
    except (OSError, ValueError) as error:
        raise ArtifactError(f"cannot open '{path}': {reason(error)}") from error


def check_trust(path: Path, status: os.stat_result) -> None:
    """`ArtifactError` if others may have written a file with native code; `status` is that of the open file."""
    fault = file_fault(path, status)
    if fault is not None:
        hint = "take that right away (chmod, chown), or load it with trust=True (--trust)"
        raise ArtifactError(f"'{path}' holds native code and others may change it: {fault}", help=hint)


def check_machine(metadata: ModelMetadata, what: str) -> None:
    """`ArtifactError` where the code cannot run here: other ABI, or CPU features that are missing."""
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
