"""`Verify` verifies the input and the result of passes."""

from __future__ import annotations

from contextlib import nullcontext

from xdsl.dialects.builtin import ModuleOp

from xrelay.errors import VerificationError
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument
from xrelay.passes.infra.verify import verify_module
from xrelay.passes.instruments.time_tree import TimeTree


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
