"""A campaign over everything that comes from outside: ``python -m fuzz``, or ``make fuzz``.

A case is a command of featprop on inputs that were valid and are not quite so any more. It must end in a right answer
or in one clear sentence, whatever the inputs are. A case is made from (seed, target, number) alone.
"""
