"""What every pass runs on: text to module, verification, the pipeline runner and its instruments, diagnostics."""
