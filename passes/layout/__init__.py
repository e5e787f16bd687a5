"""Layouts of relay programs: which ones ops want, and where transforms stand."""
