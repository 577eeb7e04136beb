"""Instances of mechanism design, the best that is known of each, proved by files, and a judge of solutions."""
