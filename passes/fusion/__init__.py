"""Operator fusion: the graph, its post-dominators, the partition, the passes that apply it, and its explanation."""
