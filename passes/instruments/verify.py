"""Instruments that check modules: `Verify` their validity, `Immutability` that passes do not change their input."""

from __future__ import annotations

from contextlib import nullcontext

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import PassError, VerificationError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument, PassStack
from xrelay.passes.infra.printing import print_module
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.instruments.timing import TimeTree


class Verify(PassInstrument):
    """Verifies the module before and after every pass, even if the context's config disables verification.

    Without `before`, verifies only results. The time is added to a step `verify` of `clock`, if given. Raises
    `VerificationError` for the first error, with the pass's name.
    """

    def __init__(self, *, before: bool = True, clock: TimeTree | None = None):
        self._before, self._clock = before, clock

    def run_before_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Verifies the input of the pass."""
        if self._before:
            self._verify(mod, f"[{info.name}] the module given to the pass is ill-formed")

    def run_after_pass(self, mod: ModuleOp, info: PassInfo) -> None:
        """Verifies the result of the pass."""
        self._verify(mod, f"[{info.name}] the pass left an ill-formed module")

    def _verify(self, mod: ModuleOp, what: str) -> None:
        try:
            with self._clock.step("verify") if self._clock is not None else nullcontext():
                verify_module(mod)
        except VerificationError as error:
            raise VerificationError(f"{what}: {error.message}", location=error.location, help=error.help) from error


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
