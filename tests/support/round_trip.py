"""Prints a .mlir file by way of the generic form: custom form → custom form → generic form → custom form.

    python tests/support/round_trip.py FILE

The text tests run it as `XRELAY_ROUNDTRIP`. It runs `xrelay-opt` three times in one process.
"""

import sys
import tempfile
from pathlib import Path

from xrelay.tools.xrelay_opt import main

with tempfile.TemporaryDirectory() as folder:
    custom, generic = str(Path(folder) / "custom.mlir"), str(Path(folder) / "generic.mlir")
    steps = [[sys.argv[1], "-o", custom], [custom, "--print-op-generic", "-o", generic], [generic]]
    codes = (main([*step, "--split-input-file"]) for step in steps)
    status = next((code for code in codes if code != 0), 0)
sys.exit(status)
