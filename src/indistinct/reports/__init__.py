"""Reports for people: a summary as plain data, and its rendering as HTML, PDF or Markdown; JSON is the summary itself.

``summary`` is internal, for the steward: it may show what was lost. ``public`` is what may stand beside the published
file: it is made from the published table, the policy and counts that the manifest has anyway, so nothing in it depends
on a suppressed row.
"""
