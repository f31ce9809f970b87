"""The command line: the commands by task, and what they share."""
