"""Facts about CPUs, and the registry of implementations per target. This package has data only, no lowering."""

from xrelay.target.generic_func import GenericFunction, generic_func, override_native_generic_func
from xrelay.target.target import Target

__all__ = ["GenericFunction", "Target", "generic_func", "override_native_generic_func"]
