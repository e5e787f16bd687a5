"""Names under which Relay's users import run-time interfaces."""
