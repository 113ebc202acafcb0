"""Fuzzing of everything that comes from outside: ``make fuzz``.

Hypothesis damages valid inputs and runs featprop on them. Each example must end in a correct answer or in one clear
message with exit code 2: no traceback, no warning, no lost or partial file.
"""
