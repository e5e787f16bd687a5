"""The order of the bytes of weights that are multiplied by bytes of data, in `relay` and in `topi`."""

from __future__ import annotations

from typing import Final

TERMS: Final = 4
"""The neighbouring bytes of a unit, whose products one instruction adds up."""

UNITS: Final = 16
"""The units in a block of the weight."""
