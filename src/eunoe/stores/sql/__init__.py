"""Everything that both SQL engines share: statements as files, migrations, and the ports over one connection."""
