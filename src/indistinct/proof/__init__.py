"""What a written file proves: read again, counted again, judged again. It knows nothing of who published it."""
