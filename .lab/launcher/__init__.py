"""The course's launcher: it sets up what is missing, builds what changed, and starts the program."""
