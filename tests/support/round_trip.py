"""Prints a .mlir file by way of the generic form: custom form → custom form → generic form → custom form.

    python tests/support/round_trip.py FILE

The text tests run it as `XRELAY_ROUNDTRIP`. It runs `xrelay-opt` three times in one process.
"""

import sys
import tempfile
from pathlib import Path

from xrelay.tools import xrelay_opt


def main(file: str) -> int:
    """Prints the file; returns the first exit code that is not 0."""
    with tempfile.TemporaryDirectory() as folder:
        custom, generic = str(Path(folder) / "custom.mlir"), str(Path(folder) / "generic.mlir")
        steps = [[file, "-o", custom], [custom, "--print-op-generic", "-o", generic], [generic]]
        codes = (xrelay_opt.main([*step, "--split-input-file"]) for step in steps)
        return next((code for code in codes if code != 0), 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
