"""The pass `PrintIR` prints the program at its position in a `Sequential`."""

from __future__ import annotations

from typing import TextIO

from xdsl.dialects.builtin import ModuleOp

from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.xrelay_pass import EXACT
from xrelay.passes.instruments.print_ir import write_heading
from xrelay.relay.pass_api.passes import ModulePass


class PrintIRPass(ModulePass):
    """Prints the module under `header`, and returns it."""

    def __init__(self, header: str = "", show_meta_data: bool = False, stream: TextIO | None = None):
        super().__init__(PassInfo(0, "PrintIR", numerics=EXACT))
        self._header, self._generic, self._stream = header, show_meta_data, stream

    def transform(self, mod: ModuleOp, ctx: PassContext) -> ModuleOp:
        """Prints the module; with `show_meta_data` in generic form, which shows all attributes."""
        text = print_module(mod, generic=self._generic)
        write_heading(self._stream, f"PrintIR({self._header})" if self._header else "PrintIR", text)
        return mod
