"""Tests on real GPUs; they are skipped, with the reason, on a machine that has none."""
