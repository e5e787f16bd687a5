"""The converters, one file per family of operators, which is imported when a node needs it.

A file that emits operators of `dialects/relay/ops/nn/pool.py` is `nn/pool.py`. Operators that are composed of several
families have a file of their own name. The domains com.microsoft and ai.onnx.ml have the folders `microsoft/` and
`ml/`, except for an operator of com.microsoft that means the same as ONNX's of that name. `shared/` has helpers;
`definition.py` exports the names that most converters use.
"""
