"""Links: an indexer that follows the change feeds of the lab's `configurations`, after the report on IBM's CLM 6.0.

It polls the tracked resource sets of its sources (gc, qm and cm unless told otherwise), two threads a source, keeps on
disk which artifact points at which, and answers what points at an artifact in a global configuration. /ldx/status, the
history of each source and /ldx/web tell what each poll retrieved, how long it took, and how large the index is.

Known defects, off by default: `--reindex-all`, `--keep-versions`.
"""
