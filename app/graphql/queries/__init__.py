"""The fields of ``Query``, one file a noun; ``schema`` puts them together."""
