"""Benchmarks: ratios of time and memory, each measured within one run."""
