"""Text for screens, with codes for invisible and control characters."""

import functools
import re

_NOT_PLAIN = re.compile(r"[^ -~]")
# Printable characters to Python that Unicode shows as nothing, and the empty Braille cell.
_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)


def printable(text, keep="") -> str:
    r"""Return text with codes, such as \x1b and \u202e, for control and invisible characters.

    Line ends, tabs and unusual spaces are codes too; characters of `keep` stay as they are.
    """
    return _NOT_PLAIN.sub(
        lambda match: match[0] if match[0] in keep else _shown(match[0]), str(text)
    )


@functools.lru_cache(maxsize=1 << 12)
def _shown(character):
    """Return a character, or its code."""
    if character.isprintable() and not _UNSEEN.match(character):
        return character
    return ascii(character)[1:-1]
