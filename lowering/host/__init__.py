"""Graph functions at the loop level: control flow, calls, lists and buffers around the calls of kernels.

`function` rewrites a function; it visits the ops in order. `code` has its state, and the lowerings, one for each kind
of op, are in the other modules.
"""
