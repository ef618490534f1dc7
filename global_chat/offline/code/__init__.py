"""The job code agent by rule, over parsed JavaScript: edits, explanations, starters."""
