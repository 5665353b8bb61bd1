"""The fields of ``Query`` and ``Mutation``, one file per noun; ``schema`` joins them."""
