"""A table and a policy, read and counted once: where every job starts."""
