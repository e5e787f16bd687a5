"""What schedule primitives are made with: legality conditions, the registry of rewrites, the passes that follow."""

from xrelay.passes.loop.primitives.rewrites import REWRITES, apply_primitive, rewrites

__all__ = ["REWRITES", "apply_primitive", "rewrites"]
