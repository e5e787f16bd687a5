"""Receivers of the program after each stage of a compilation, among them `StageDump`, which writes texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from xdsl.dialects.builtin import LocationAttr, ModuleOp, StringAttr

from xrelay.dialects.relay.structure.weights import Weight, add_by_key, weights_of
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.errors import InputError
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.source import write_text
from xrelay.runtime.object_code.line_locations import Listing
from xrelay.runtime.safetensors_file import write_safetensors

_SIDE_FILE: Final = "weights.safetensors"


class NativePiece(NamedTuple):
    """A part of a program as LLVM IR, with the source locations of its lines, and as assembly."""

    text: str
    locations: Mapping[int, LocationAttr]
    listing: Listing


class StageReceiver(Protocol):
    """Receives the program after each stage. It may keep copies, and never changes the module."""

    def receive(self, number: int, name: str, module: ModuleOp) -> None:
        """Receives the module after stage `number`; stage 0 is the imported program."""
        ...

    def receive_native(self, number: int, pieces: Sequence[NativePiece]) -> None:
        """Receives the pieces of the program as LLVM IR and assembly."""
        ...

    def finish_stages(self) -> None:
        """Called after the last stage, before native code."""
        ...

    def finish(self, timing: str) -> None:
        """Called after native code; `timing` is the table of the seconds of each step."""
        ...

    def for_function(self, number: int) -> StageReceiver:
        """Returns the receiver for the program of returned function `number`."""
        ...


class StageDump:
    """A folder of texts `00_imported.mlir`, `01_typed.mlir` and so on; each can be compiled or run again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._weights: dict[str, Weight] = {}

    def receive(self, number: int, name: str, module: ModuleOp) -> None:
        """Writes the module after a stage, and sets its attribute that names the weight file."""
        resolved = [weight for weight in weights_of(module) if weight.is_resolved]
        if resolved:
            add_by_key(resolved, self._weights)
            module.attributes[WEIGHTS_FILE] = StringAttr(_SIDE_FILE)
        self._write(f"{number:02d}_{name}.mlir", print_module(module) + "\n")

    def receive_native(self, number: int, pieces: Sequence[NativePiece]) -> None:
        """Writes `NN_native.ll` and `NN_native.s`."""
        self._write(f"{number:02d}_native.ll", "\n".join(piece.text for piece in pieces))
        self._write(f"{number + 1:02d}_native.s", "\n".join(piece.listing.text for piece in pieces))

    def finish_stages(self) -> None:
        """Writes the weights of all stages, each once."""
        if not self._weights:
            return
        try:
            arrays = {key: weight.array for key, weight in self._weights.items()}
            write_safetensors(self.folder / _SIDE_FILE, arrays, {})
        except OSError as error:
            raise InputError(f"cannot write the weights: {error.strerror}", location=str(self.folder)) from error

    def finish(self, timing: str) -> None:
        """Writes `timing.txt`."""
        self._write("timing.txt", timing)

    def _write(self, name: str, text: str) -> None:
        write_text(self.folder / name, text, makes_folder=True)

    def for_function(self, number: int) -> StageDump:
        """Returns the dump of a returned function, into a folder of its own."""
        return StageDump(self.folder / f"function{number}")
