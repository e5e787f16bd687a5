"""The xDSL plugin: an entry point through which `xdsl-opt` finds xrelay's dialects and passes.

Both tables are lazy. A name that also occurs in xDSL or another plugin would break every xDSL tool in the environment,
so `tests/meta` checks for clashes.
"""

from __future__ import annotations

from xdsl.universe import Universe

from xrelay.dialects import dialect_thunks
from xrelay.lowering.registry import pass_thunks

XRELAY_UNIVERSE = Universe(all_dialects=dict(dialect_thunks()), all_passes=dict(pass_thunks()))
"""xrelay's dialects and passes by name."""
