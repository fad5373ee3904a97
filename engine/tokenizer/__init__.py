"""From text to token ids and back: merges, spans, spelling, chat templates, vocabularies."""
