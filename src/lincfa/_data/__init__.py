"""Data of any container, checked, as one value; results back into their container."""
