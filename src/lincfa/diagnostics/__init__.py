"""Why two features merge, how stable the groups are, and how well they predict."""
