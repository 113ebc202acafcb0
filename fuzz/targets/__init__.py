"""What is fuzzed, one file a kind of input: each takes valid inputs, changes some, and names a command."""
