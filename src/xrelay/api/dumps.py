"""`dump_stages`: writes the program after every stage as text, and the weights of all texts to one file."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from xrelay.api.sources import write_text
from xrelay.dialects.relay.structure.weights import Weight, add_by_key, weights_of
from xrelay.dialects.shared.attribute_names import WEIGHTS_FILE
from xrelay.errors import InputError
from xrelay.passes.infra.printing import print_module
from xrelay.runtime.safetensors_file import write_safetensors

SIDE_FILE = "weights.safetensors"


class StageDump:
    """A folder of texts `00_imported.mlir`, `01_typed.mlir` and so on; each can be compiled or run again."""

    def __init__(self, folder: Path):
        self.folder = folder
        self._weights: dict[str, Weight] = {}

    def write(self, number: int, name: str, module: ModuleOp) -> None:
        """Writes the module after a stage, and sets its attribute that names the weight file."""
        resolved = [weight for weight in weights_of(module) if weight.is_resolved]
        if resolved:
            add_by_key(resolved, self._weights)
            module.attributes[WEIGHTS_FILE] = StringAttr(SIDE_FILE)
        write_text(self.folder / f"{number:02d}_{name}.mlir", print_module(module) + "\n")

    def finish(self) -> None:
        """Writes the weights of all stages, each once."""
        if not self._weights:
            return
        try:
            arrays = {key: weight.array for key, weight in self._weights.items()}
            write_safetensors(self.folder / SIDE_FILE, arrays, {})
        except OSError as error:
            raise InputError(f"cannot write the weights: {error.strerror}", location=str(self.folder)) from error
