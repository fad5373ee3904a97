"""The decode loop, stop strings, branches, beam search, export and streaming."""
