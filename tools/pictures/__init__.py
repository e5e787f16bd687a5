"""Pictures of a small program at its levels, drawn from the compiler's own data: `docs/pictures`."""
