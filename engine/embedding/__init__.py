"""The embedding table, rotary and other position encodings, and what word order changes."""
