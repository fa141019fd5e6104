"""Reading foreign messages: what is said, who says it, which result answers which call, what it weighs.

Nothing here changes a message, and nothing here fails on odd content: `None`, numbers, dicts, unknown
parts and lone surrogates are all read as something.
"""
