"""Campaigns that try to break the library: ``python -m fuzz --help``."""
