"""The planner by rule: inspect, one call a step in parallel, structure first, then an answer."""
