"""Small real trainings: one sentence, a preference, and a transformer from nothing."""
