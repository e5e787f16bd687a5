"""The infrastructure of the Relay operators: base class, types, properties, syntax, fusion pattern and registry."""
