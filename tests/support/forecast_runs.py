"""Runs of two topics by their lists."""

LISTS = {
    "one": ["abcd", "pq"],
    "two": ["bacx", "qp"],
    "three": ["abyz", "pr"],
    "four": ["uvwa", "st"],
    "five": ["cdab", "q"],
}
