"""Instruments observe passes: they print, time, count, save and check the module, and never change it.

    timing = instrument.PassTiming()
    with transform.PassContext(opt_level=3, instruments=[timing, instrument.NumericCheck()]):
        module = sequential(module)
        report = timing.render()

`@instrument.pass_instrument` turns any class with at least one of the five hooks into an instrument. Names are imported
on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xrelay.passes.infra.pass_instrument import PassInstrument as PassInstrument
    from xrelay.passes.infra.pass_instrument import pass_instrument as pass_instrument
    from xrelay.passes.instruments.numeric_check import NumericCheck as NumericCheck
    from xrelay.passes.instruments.print_ir import DumpIR as DumpIR
    from xrelay.passes.instruments.print_ir import PrintAfterAll as PrintAfterAll
    from xrelay.passes.instruments.print_ir import PrintBeforeAll as PrintBeforeAll
    from xrelay.passes.instruments.print_ir import PrintDiff as PrintDiff
    from xrelay.passes.instruments.print_ir import PrintIR as PassPrintingInstrument
    from xrelay.passes.instruments.print_ir import PrintIR as PrintIR
    from xrelay.passes.instruments.reproducer import CrashReproducer as CrashReproducer
    from xrelay.passes.instruments.statistics import PassStatistics as PassStatistics
    from xrelay.passes.instruments.timing import PassTiming as PassTiming
    from xrelay.passes.instruments.timing import PassTiming as PassTimingInstrument
    from xrelay.passes.instruments.verify import Immutability as Immutability
    from xrelay.passes.instruments.verify import Verify as Verify

_PUBLIC: dict[str, str] = {
    "CrashReproducer": "instruments.reproducer:CrashReproducer",
    "DumpIR": "instruments.print_ir:DumpIR",
    "Immutability": "instruments.verify:Immutability",
    "NumericCheck": "instruments.numeric_check:NumericCheck",
    "PassInstrument": "infra.pass_instrument:PassInstrument",
    "PassPrintingInstrument": "instruments.print_ir:PrintIR",
    "PassStatistics": "instruments.statistics:PassStatistics",
    "PassTiming": "instruments.timing:PassTiming",
    "PassTimingInstrument": "instruments.timing:PassTiming",
    "PrintAfterAll": "instruments.print_ir:PrintAfterAll",
    "PrintBeforeAll": "instruments.print_ir:PrintBeforeAll",
    "PrintDiff": "instruments.print_ir:PrintDiff",
    "PrintIR": "instruments.print_ir:PrintIR",
    "Verify": "instruments.verify:Verify",
    "pass_instrument": "infra.pass_instrument:pass_instrument",
}
"""Maps a public name to `module:name` within `xrelay.passes`. The two long names are Relay's."""

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


def __getattr__(name: str) -> object:
    """Imports an instrument on first use."""
    if name not in _PUBLIC:
        raise AttributeError(f"module 'xrelay.instrument' has no attribute {name!r}")
    module, _, member = _PUBLIC[name].partition(":")
    return getattr(import_module(f"xrelay.passes.{module}"), member)
