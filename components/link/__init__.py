"""What a link carries: names, limits, checks, and widgets that are bound to it."""
