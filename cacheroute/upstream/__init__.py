"""What the Proxy asks of Instances."""
