"""What people read: answers as short text."""
