"""The rows of each list: values joined from what the control plane says, and their columns."""
