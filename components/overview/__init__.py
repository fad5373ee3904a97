"""The flow of the whole pipeline, as one picture, and the recorded run."""
