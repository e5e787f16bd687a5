"""Object code: LLVM compiles IR to it (`llvm_compiler`), and it is linked and loaded into this process.

`native_library` loads object files. `object_image` links them without LLVM; `llvm_linker` links the others.
"""
