"""Instruments observe passes: they print, time, count, save and check the module, and never change it."""
