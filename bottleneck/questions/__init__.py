"""The lecture's questions: one file each, with probe, rule, table and figure."""
