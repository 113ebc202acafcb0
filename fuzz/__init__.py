"""A campaign over everything that comes from outside: ``python -m fuzz``, or ``make fuzz``.

A case is a command of featprop on inputs that were valid and are not quite so any more. It must end in a right answer
or in one clear sentence, whatever the inputs are. Words and inputs of a case are made
from (seed, target, number) alone, on any day; ports and tokens of servers are new each time.
"""
