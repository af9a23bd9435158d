"""The bodies and events of each endpoint, drawn from a `Reply` as vLLM 0.32 draws them."""
