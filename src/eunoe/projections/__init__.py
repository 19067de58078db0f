"""Events become rows: one pure function, used by live writes and by rebuild."""
