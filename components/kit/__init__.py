"""The primitives of every page: figures, strips, text, theme, numbers."""
