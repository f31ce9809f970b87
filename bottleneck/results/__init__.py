"""Results on disk: the bundle and its schema, checksums, reading, merging."""
