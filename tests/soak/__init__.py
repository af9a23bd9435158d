"""Long runs: what a Proxy holds after a million calls, and after hours' worth of comings and goings."""
