"""The ten guesses on the pages: where somebody is, what the model gives, and what is drawn."""
