"""Source locations as text, for passes. The functions stand below, where interpreters reach them too."""

from xrelay.dialects.locations import format_location, location_of, source_names

__all__ = ["format_location", "location_of", "source_names"]
