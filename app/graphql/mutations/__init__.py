"""The fields of ``Mutation``, one file a noun, and what each answers; ``schema`` joins them."""
