"""The seam to a language model, and what stands behind it: anthropic, scripted, recording."""
