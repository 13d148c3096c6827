"""Audit, anonymize, publish, verify: what a steward does with a table and a policy."""
