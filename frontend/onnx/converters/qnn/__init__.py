"""Converters of quantised operators: a file for each family of `dialects/relay/ops/qnn`."""
