"""What is wrong with a workflow, with its place and a suggestion."""
