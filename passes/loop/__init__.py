"""Rewrites of loop nests: schedules, erasing blocks, planning memory."""
