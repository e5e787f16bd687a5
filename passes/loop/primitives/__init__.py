"""Parts of schedule primitives: legality conditions, the registry of rewrites, and the passes made of both."""

from xrelay.passes.loop.primitives.rewrites import REWRITES, apply_primitive, rewrites

__all__ = ["REWRITES", "apply_primitive", "rewrites"]
