"""The runtime of compiled models: native code, thread pool, arena, cache and file format.

It does not depend on the compiler: its inputs are LLVM IR text or object code, tables of inputs, outputs and weights,
and arrays. `native` compiles and loads, `thread_pool` runs parallel regions, `executable` calls a model's entry,
`artifact` stores a model in a file, `c_export` exports it to C.
"""
