"""One self-contained page from a results bundle: tables, claims, figures, and an explorer."""
