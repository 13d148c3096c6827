"""The questions about a table or a release: audit, profile, explain, compare, risk, utility."""
