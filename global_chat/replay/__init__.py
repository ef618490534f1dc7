"""Many turns: collect cases, run them, compare what happened with what was expected, report."""
