"""What the surroundings say: environment, folders, trusted files. Components below get plain values."""
