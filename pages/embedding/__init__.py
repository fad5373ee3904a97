"""The page on embedding and position."""
