"""The base of the Relay operators: their base class, types, properties, text form, fusion pattern and registry."""
