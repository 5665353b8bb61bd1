"""The frame of every page: layout, navigation, session, forms, errors, words and figures."""
