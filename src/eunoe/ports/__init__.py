"""What the core asks of the outside: one Protocol a file; its docstring is the contract."""
