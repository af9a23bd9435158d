"""What may be wrong here or at the Proxy: each check looks, says a sentence, changes nothing."""
