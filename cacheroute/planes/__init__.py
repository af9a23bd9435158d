"""What HTTP requests mean: the service plane and the control plane."""
