"""The tokenizer page."""
