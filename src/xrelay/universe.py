"""The plugin of xDSL: `xdsl-opt` finds xrelay's dialects and passes through its entry point.

Both tables are lazy. A name that xDSL or another plugin also has would stop every xDSL tool in the environment, which
is why `tests/meta` compares the names.
"""

from __future__ import annotations

from xdsl.universe import Universe

from xrelay.dialects import dialect_thunks
from xrelay.lowering.registry import pass_thunks

XRELAY_UNIVERSE = Universe(all_dialects=dict(dialect_thunks()), all_passes=dict(pass_thunks()))
"""xrelay's dialects and passes by name."""
