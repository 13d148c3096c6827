"""The ledger of earlier releases, and what releases tell together."""
