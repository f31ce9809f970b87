"""What the lecture's slides print, by id."""
