"""One turn: validate, route, hand over, answer."""
