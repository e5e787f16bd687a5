"""What every Relay operator shares: its base class, types, properties, text form, fusion pattern and registry."""
