"""A terminal agent that runs on all this: the loop, the model, its tools, and two ways to look on."""
