"""The shape of every document that `-o json` and `-o jsonl` print, one file for each schema."""
