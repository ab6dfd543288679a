"""The libraries that a reporter can watch, each with what the reporter knows about it."""
