"""How each tool is asked for the value of a vector: one file per tool.

Each has `PACKAGES`, names of the distribution, and ``ways(measure, asked, sets)``, which yields
pairs of what the tool is told, "" for nothing, and a function of the rows of a vector. `asked` are
the parameters that the value has whatever the rule, such as k, and `sets` those that the rule sets,
of which a tool is told what it has an option for.
"""
