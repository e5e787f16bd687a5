"""Instruments observe passes: they print, time, count, save and check the module, and never change it.

    timing = instrument.PassTiming()
    with transform.PassContext(opt_level=3, instruments=[timing, instrument.NumericCheck()]):
        module = sequential(module)
        report = timing.render()

`@instrument.pass_instrument` turns any class with at least one of the five hooks into an instrument.
"""

from __future__ import annotations

from xrelay.passes.infra.pass_instrument import PassInstrument, pass_instrument
from xrelay.passes.instruments.numeric_check import NumericCheck
from xrelay.passes.instruments.print_ir import DumpIR, PrintAfterAll, PrintBeforeAll, PrintDiff, PrintIR
from xrelay.passes.instruments.reproducer import CrashReproducer
from xrelay.passes.instruments.statistics import PassStatistics
from xrelay.passes.instruments.timing import PassTiming
from xrelay.passes.instruments.verify import Immutability, Verify

PassPrintingInstrument = PrintIR
PassTimingInstrument = PassTiming
"""Relay's names of these classes."""

__all__ = [
    "CrashReproducer",
    "DumpIR",
    "Immutability",
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
