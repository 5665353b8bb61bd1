"""The fields of ``Mutation``, one file per noun, with their payloads; ``schema`` joins them."""
