"""Measures placewire against its peers; `python -m benchmarks` runs everything."""
