"""The project's own: its address, the first cell of every lesson, a check of the machine."""
