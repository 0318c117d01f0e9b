"""Fuzzing of everything that reads bytes from elsewhere."""
