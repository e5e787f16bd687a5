"""Instruments of `xrelay-opt` that say on stderr what they did."""

from __future__ import annotations

import sys

from xrelay.passes.instruments.numeric_check import NumericCheck
from xrelay.passes.instruments.reproducer import CrashReproducer
from xrelay.passes.instruments.statistics import PassStatistics


class ReportingCheck(NumericCheck):
    """A numeric check that says at the end which passes kept the results and which it could not check."""

    def exit_pass_ctx(self) -> None:
        """Report."""
        kept = ", ".join(self.checked) if self.checked else "no pass"
        sys.stderr.write(f"numerics: results kept by {kept}\n")
        sys.stderr.writelines(f"numerics: {name} not checked: {reason}\n" for name, reason in self.unchecked)


class ReportingStatistics(PassStatistics):
    """Statistics that are told at the end, also where a pass failed."""

    def exit_pass_ctx(self) -> None:
        """Report."""
        super().exit_pass_ctx()
        sys.stderr.write(self.report())


class ReportingReproducer(CrashReproducer):
    """A crash reproducer that says where it is."""

    def exit_pass_ctx(self) -> None:
        """Write the reproducer where a pass failed."""
        super().exit_pass_ctx()
        if self.written:
            sys.stderr.write(f"note: reproducer written to {self.path}\n")
