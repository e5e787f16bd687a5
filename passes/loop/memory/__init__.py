"""Memory of the loop level: lifetimes and offsets of buffers, kernels in place, and views in place of copies."""
