"""Lowering passes from each level to the next; `pipelines` lists them in order."""
