"""What holds for the tree as a whole, and that a graph of imports cannot tell."""
