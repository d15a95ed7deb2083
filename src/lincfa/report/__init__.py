"""A report on a fitted model: findings as plain data, then words, then one page of HTML or JSON."""
