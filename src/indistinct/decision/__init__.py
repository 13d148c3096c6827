"""An algorithm decides on counts, and its decision is applied once, in memory."""
