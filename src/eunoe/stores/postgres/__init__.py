"""PostgreSQL with pgvector: what differs from SQLite, and nothing else."""
