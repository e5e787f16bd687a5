"""Rewrites of topi: expand named operations, inline elementwise producers into their readers."""
