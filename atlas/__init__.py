"""Numbers that others print, beside ours: where they agree, where they differ and why, and certified bounds."""
