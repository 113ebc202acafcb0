"""Kill campaigns: featprop killed in the middle of its work, out of room, and beside another one.

``python -m crash`` in a checkout (`make crash`); see `crash.__main__`.
"""
