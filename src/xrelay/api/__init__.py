"""The public Python interface: compile, run, compare. `xrelay` imports its names on first use."""
