"""The smallest model for which a command still fails."""
