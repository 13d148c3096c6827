"""Tables: reading, counting, applying a recoding, writing; and the records that move through the house."""
