"""Converters to the operators under `relay.nn`: a file for each family of `dialects/relay/ops/nn`."""
