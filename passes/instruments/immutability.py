"""`Immutability` checks that passes do not change their input module."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.infra.printing import print_module


class Immutability(PassInstrument):
    """Compares the text of a pass's input module before and after the pass; raises `PassError` if it changed.

    The config key `testing.immutable_module` adds this instrument to every pass. It has no effect on pipelines of
    `xrelay-opt`, which rewrite their module in place.
    """

    def __init__(self) -> None:
        self._modules = PassStack[tuple[ModuleOp, str]]()

    def enter_pass_ctx(self) -> None:
        """Resets the instrument."""
        self._modules.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Stores the module and its text."""
        self._modules.push(info, (mod, print_module(mod, generic=True)))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Compares the input module with its text."""
        before, text = self._modules.pop(info)
        if print_module(before, generic=True) != text:
            raise PassError(f"[{info.name}] the pass changed the module it was given", help="change and return a copy")
