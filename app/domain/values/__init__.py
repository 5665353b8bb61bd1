"""Values that every subject uses: errors, global IDs, pages, ranges, texts.

Nothing here knows a subject.
"""
