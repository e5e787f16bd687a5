"""`--check-numerics`: the numeric check, with a word about it on stderr."""

from __future__ import annotations

import sys

from xrelay.passes.infra.numeric_check import NumericCheck


class ReportingCheck(NumericCheck):
    """A numeric check that says at the end which passes kept the results and which it could not check."""

    def exit_pass_ctx(self) -> None:
        """Report."""
        kept = ", ".join(self.checked) if self.checked else "none"
        sys.stderr.write(f"numerics: results kept by {kept}\n")
        sys.stderr.writelines(f"numerics: {name} not checked: {reason}\n" for name, reason in self.unchecked)
