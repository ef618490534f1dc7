"""New code into the bytes of one step's body."""
