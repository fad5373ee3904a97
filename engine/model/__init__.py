"""Find, fetch, convert, load and wrap a language model."""
