"""What several tests share: small models and one-op programs. On the path through pytest's pythonpath."""
