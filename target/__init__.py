"""Facts about CPUs, and the registry of implementations per target: data, no lowering."""
