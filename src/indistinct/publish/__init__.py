"""The main job: decide, apply, deliver; nothing is named before it is proved."""
