"""Facts about relay programs that rewrites decide by: op patterns, the post-dominator tree, fusion groups."""
