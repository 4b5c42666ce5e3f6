"""From a running service, or its OpenAPI description: what reads, by GET."""
