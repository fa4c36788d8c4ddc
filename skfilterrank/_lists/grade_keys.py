"""Keys by which assessors give grades, at the terminal and on a page."""

from skfilterrank.exceptions import InputError

# Letters that are no commands of the page, for grades that have no key of their own.
_LETTERS = "acdfhijklqrstwxyz"


def keys_of_grades(grades, letters=_LETTERS) -> dict:
    """Return a key for each grade: its digit, - for the negative one next to 0, else a letter."""
    negative = max((grade for grade in grades if grade < 0), default=None)
    keys, letters = {}, iter(letters)
    for grade in grades:
        if grade == negative:
            keys[grade] = "-"
        else:
            keys[grade] = f"{grade:g}" if grade in range(10) else next(letters, "")
        if not keys[grade]:
            raise InputError(f"grades must be at most one for each key, got {len(grades)} of them.")
    return keys
