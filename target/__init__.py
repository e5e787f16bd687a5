"""Facts about CPUs, and the registry of implementations per target: data, no lowering."""

from xrelay.target.target import Target

__all__ = ["Target"]
