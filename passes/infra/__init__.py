"""The pass infrastructure: parsing, pipelines, hooks, options, verification, conversion."""
