"""Reference interpreters: executable semantics of each level's ops on numpy arrays."""
