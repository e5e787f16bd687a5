"""`python -m xrelay` is the command `xrelay`."""

from __future__ import annotations

import sys

from xrelay.tools.xrelay_cli import main

if __name__ == "__main__":
    sys.exit(main())
