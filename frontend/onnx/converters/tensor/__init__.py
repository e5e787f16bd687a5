"""Converters to the operators on tensors: a file for each family of `dialects/relay/ops/tensor`."""
