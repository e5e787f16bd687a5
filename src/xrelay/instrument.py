"""Instruments: what looks on while passes run.

    timing = instrument.PassTiming()
    with transform.PassContext(opt_level=3, instruments=[timing, instrument.NumericCheck()]):
        module = sequential(module)
        report = timing.render()

Any class with one of the five hooks becomes an instrument by `@instrument.pass_instrument`. The names are imported when
they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xrelay.passes.infra.checking_instruments import PassStatistics as PassStatistics
    from xrelay.passes.infra.checking_instruments import Verify as Verify
    from xrelay.passes.infra.numeric_check import NumericCheck as NumericCheck
    from xrelay.passes.infra.pass_instrument import PassInstrument as PassInstrument
    from xrelay.passes.infra.pass_instrument import pass_instrument as pass_instrument
    from xrelay.passes.infra.printing_instruments import DumpIR as DumpIR
    from xrelay.passes.infra.printing_instruments import PrintAfterAll as PrintAfterAll
    from xrelay.passes.infra.printing_instruments import PrintBeforeAll as PrintBeforeAll
    from xrelay.passes.infra.printing_instruments import PrintDiff as PrintDiff
    from xrelay.passes.infra.printing_instruments import PrintIR as PassPrintingInstrument
    from xrelay.passes.infra.printing_instruments import PrintIR as PrintIR
    from xrelay.passes.infra.reproducer import CrashReproducer as CrashReproducer
    from xrelay.passes.infra.timing_instrument import PassTiming as PassTiming
    from xrelay.passes.infra.timing_instrument import PassTiming as PassTimingInstrument

_PUBLIC: dict[str, str] = {
    "CrashReproducer": "reproducer:CrashReproducer",
    "DumpIR": "printing_instruments:DumpIR",
    "NumericCheck": "numeric_check:NumericCheck",
    "PassInstrument": "pass_instrument:PassInstrument",
    "PassPrintingInstrument": "printing_instruments:PrintIR",
    "PassStatistics": "checking_instruments:PassStatistics",
    "PassTiming": "timing_instrument:PassTiming",
    "PassTimingInstrument": "timing_instrument:PassTiming",
    "PrintAfterAll": "printing_instruments:PrintAfterAll",
    "PrintBeforeAll": "printing_instruments:PrintBeforeAll",
    "PrintDiff": "printing_instruments:PrintDiff",
    "PrintIR": "printing_instruments:PrintIR",
    "Verify": "checking_instruments:Verify",
    "pass_instrument": "pass_instrument:pass_instrument",
}
"""Public name → module of `xrelay.passes.infra` and name there. The two long names are Relay's."""

__all__ = [
    "CrashReproducer",
    "DumpIR",
    "NumericCheck",
    "PassInstrument",
    "PassPrintingInstrument",
    "PassStatistics",
    "PassTiming",
    "PassTimingInstrument",
    "PrintAfterAll",
    "PrintBeforeAll",
    "PrintDiff",
    "PrintIR",
    "Verify",
    "pass_instrument",
]


def __getattr__(name: str) -> object:
    """Import an instrument on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'xrelay.instrument' has no attribute {name!r}")
    module, _, member = _PUBLIC[name].partition(":")
    return getattr(import_module(f"xrelay.passes.infra.{module}"), member)
