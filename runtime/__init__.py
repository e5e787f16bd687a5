"""The runtime of compiled models: native code, thread pool, arena, cache and file format.

This folder knows nothing of the compiler: it takes LLVM IR text or object code, tables of inputs, outputs and weights,
and arrays. `native` compiles and loads, `thread_pool` runs parallel regions, `executable` calls a model's entry,
`artifact` stores one in a file, `c_export` hands one to C.
"""
