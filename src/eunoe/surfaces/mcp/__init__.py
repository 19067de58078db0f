"""MCP: the tools of an agent. Definitions are data; what they do is the service's."""
