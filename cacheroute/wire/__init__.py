"""The published HTTP contract: every path, header and body once."""
