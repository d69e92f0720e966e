"""Says when something is done: how much at once, how long it may take, how long to wait, and when to stop."""
