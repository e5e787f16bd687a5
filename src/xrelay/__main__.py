"""`python -m xrelay` is the command `xrelay`."""

from __future__ import annotations

import sys

from xrelay.tools.entry_points import xrelay

if __name__ == "__main__":
    sys.exit(xrelay())
