"""The studio: a local web app in which a policy is edited, looked at and published.

Everything it does is an edit of a policy and a call of the functions that the commands call. The server
(``app``, ``guard``, ``state``, ``pages``) holds texts and plain data; tables, policies and searches live in one worker
process (``worker``, ``work``, ``edits``, ``view``), which is replaced when it dies.
"""
