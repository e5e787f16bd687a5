"""Instruments of `xrelay-opt` that report on stderr."""

from __future__ import annotations

import sys

from xrelay.passes.instruments.numeric_check import NumericCheck
from xrelay.passes.instruments.reproducer import CrashReproducer
from xrelay.passes.instruments.statistics import PassStatistics


class ReportingCheck(NumericCheck):
    """A numeric check that finally lists the passes that kept the results and those that could not be checked."""

    def exit_pass_ctx(self) -> None:
        """Prints the report."""
        kept = ", ".join(self.checked) if self.checked else "no pass"
        sys.stderr.write(f"numerics: results unchanged by {kept}\n")
        sys.stderr.writelines(f"numerics: {name} not checked: {reason}\n" for name, reason in self.unchecked)


class ReportingStatistics(PassStatistics):
    """Statistics that are printed at the end, even if a pass failed."""

    def exit_pass_ctx(self) -> None:
        """Prints the report."""
        super().exit_pass_ctx()
        sys.stderr.write(self.report())


class ReportingReproducer(CrashReproducer):
    """A crash reproducer that prints its path."""

    def exit_pass_ctx(self) -> None:
        """Writes the reproducer if a pass failed."""
        super().exit_pass_ctx()
        if self.written:
            sys.stderr.write(f"note: reproducer written to {self.path}\n")
