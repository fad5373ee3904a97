"""The page on speculative decoding."""
