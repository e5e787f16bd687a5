"""The schedule primitives, one a file: legality check, then rewrite."""

from xrelay.passes.loop.primitives.registry import REWRITES, apply_primitive, register_rewrite

__all__ = ["REWRITES", "apply_primitive", "register_rewrite"]
