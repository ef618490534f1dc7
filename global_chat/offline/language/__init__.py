"""Reading what people write, by rule: folded text, words and what they stand for, names, literals,
times."""
