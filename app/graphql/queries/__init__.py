"""The fields of ``Query``, one file per noun; ``schema`` joins them."""
