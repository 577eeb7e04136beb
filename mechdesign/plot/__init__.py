"""What people look at: drawings."""
