"""Compilation of kernels one by one: `stream` takes each from topi to object code, in threads and worker processes."""
