"""The agents: router, workflow chat, job chat, planner, and the tools they share."""
