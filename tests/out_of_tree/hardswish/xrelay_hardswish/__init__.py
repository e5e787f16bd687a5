"""Hard-swish for xrelay as an out-of-tree package: xrelay does not depend on it."""
