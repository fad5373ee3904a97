"""The errors that people outside the engine need to know.

Every error that the engine raises on purpose is an `EngineError`. Its text is a whole sentence for
the person at the screen: it names the value that was wrong and says what to do.
"""


class EngineError(Exception):
    """Something went wrong that the user can understand and often put right."""


class ModelLoadError(EngineError):
    """A model could not be fetched, read or used."""
