"""The rule F ≤ tolerance: one implementation of F, of its threshold, and the evidence they make."""
