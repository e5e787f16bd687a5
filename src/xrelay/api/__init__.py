"""The public Python interface: compiling, running, comparing. Everything is imported from `xrelay` on first use."""
