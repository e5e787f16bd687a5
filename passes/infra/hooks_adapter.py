"""Relay's instruments around pipelines of xDSL passes, as `xrelay-opt` runs them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from xrelay.passes.catalogue.relay_names import relay_pass
from xrelay.passes.infra.instruments import Instrument
from xrelay.passes.infra.pass_context import PassContext
from xrelay.passes.infra.pass_info import PassInfo
from xrelay.passes.infra.pass_instrument import PassInstrument


class Hooks(Instrument):
    """Calls the hooks of `instrument` around the passes of `run_pipeline`.

    The context's hooks enclose the pipeline, also one that fails. `should_run` is not asked: a pipeline that is written
    out runs.
    """

    def __init__(self, instrument: PassInstrument):
        self._instrument = instrument

    def begin(self, module: ModuleOp, passes: Sequence[ModulePass]) -> None:
        """Enter."""
        self._instrument.enter_pass_ctx()

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Before the pass."""
        self._instrument.run_before_pass(module, info_of(current))

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """After the pass."""
        self._instrument.run_after_pass(module, info_of(current))

    def failed(self, current: ModulePass, number: int, module: ModuleOp, error: Exception) -> None:
        """Exit."""
        self._instrument.exit_pass_ctx()

    def end(self, module: ModuleOp) -> None:
        """Exit."""
        self._instrument.exit_pass_ctx()


class ContextHooks(Instrument):
    """Calls the instruments of a context that is entered already around the passes of `run_pipeline`."""

    def __init__(self, context: PassContext):
        self._context = context

    def before(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """Before the pass."""
        for instrument in self._context.instruments:
            instrument.run_before_pass(module, info_of(current))

    def after(self, current: ModulePass, number: int, module: ModuleOp) -> None:
        """After the pass."""
        for instrument in self._context.instruments:
            instrument.run_after_pass(module, info_of(current))


def info_of(current: ModulePass) -> PassInfo:
    """An xDSL pass as instruments know it: by its own name, with the level Relay gives it."""
    row = relay_pass(current.name)
    return PassInfo(0 if row is None else row.opt_level, current.name, spec=str(current))
