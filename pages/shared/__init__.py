"""What every page script shares: the cached model and traces, and the frame around a page."""
