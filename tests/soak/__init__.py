"""Long runs: what a Proxy holds after a million calls, or after hours of coming and going."""
