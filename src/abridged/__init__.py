"""Keep a long-running agent inside its context window, and lose nothing."""
