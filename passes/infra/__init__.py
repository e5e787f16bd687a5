"""The engine that every pass runs on: reading text, running pipelines, hooks, options, verification, conversion."""
