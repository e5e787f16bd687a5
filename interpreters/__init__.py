"""What programs compute: the executable meaning of each level's ops on numpy arrays."""
