"""`DumpIR` writes the module after every pass to a file."""

from __future__ import annotations

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.printing import save_module


class DumpIR(PassInstrument):
    """Writes the module after every pass to `directory`: `01_FoldConstant.mlir` and so on, and first `00_input.mlir`.

    With `generic`, writes the generic form. Raises `PassError` if the files cannot be written.
    """

    def __init__(self, directory: str | Path, *, generic: bool = False):
        self._directory, self._generic = Path(directory), generic
        self._number = 0

    def enter_pass_ctx(self) -> None:
        """Resets the numbering."""
        self._number = 0

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Writes the input of the first pass."""
        if self._number == 0:
            self._save("input", mod)

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Writes the result of the pass."""
        self._save(info.name, mod)

    def _save(self, name: str, mod: ModuleOp) -> None:
        path = self._directory / f"{self._number:02d}_{name.replace('/', '_')}.mlir"
        self._number += 1
        save_module(path, mod, generic=self._generic)
