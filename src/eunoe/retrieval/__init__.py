"""Reading: query → lanes → one scorer → fuse → judge → hits. Everything below runs without a model and without I/O."""
