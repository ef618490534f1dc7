"""A conversation about one workflow file: what it holds, and the commands that steer it."""
