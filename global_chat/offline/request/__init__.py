"""Reading the rendered requests of the agents back into values."""
