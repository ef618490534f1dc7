"""The seam to a language model, and what implements it: anthropic, batched, scripted, recording."""
