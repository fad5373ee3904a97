"""Pictures and controls of the tokenizer page."""
