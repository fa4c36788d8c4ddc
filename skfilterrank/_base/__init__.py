"""Checks, words, results and rounding: everything that knows no query."""

VERSION = "0.1.0"
# Room whose import registers the displays of results. The top of the package names it.
room_of_displays = ""
