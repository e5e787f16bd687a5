"""`Immutability` checks that passes leave the module they are given as it is."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.printing import print_module
from xrelay.passes.instruments.pass_stack import PassStack


class Immutability(PassInstrument):
    """Compares the text of the module that a pass is given before and after it; `PassError` where it changed.

    The config key `testing.immutable_module` puts one around every pass. Pipelines of `xrelay-opt` rewrite their module
    in place, so there it has no meaning.
    """

    def __init__(self) -> None:
        self._given = PassStack[tuple[ModuleOp, str]]()

    def enter_pass_ctx(self) -> None:
        """Begin anew."""
        self._given.clear()

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Remember the module and its text."""
        self._given.push(info, (mod, print_module(mod, generic=True)))

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Compare the module that was given with its text."""
        given, text = self._given.pop(info)
        if print_module(given, generic=True) != text:
            raise PassError(f"[{info.name}] the pass changed the module it was given", help="change and return a copy")
