"""JSON as files hold it, whatever they hold."""

import json
from collections import Counter

from skfilterrank.exceptions import InputError, brief


def parse_json(text, *, unique=False):
    """Value of a JSON text; an error says in a few words what is wrong with it.

    With `unique` it is an error that an object has a name twice; else the last one counts.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique if unique else None)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise InputError(f"{error.msg}, column {error.colno}") from error
    except RecursionError:
        raise InputError("lists or objects are nested too deeply") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])[1:-1]
        raise InputError(f"{half} is half of a character") from None
    except InputError:
        raise
    except ValueError:
        raise InputError("a number has thousands of digits") from None
    return value


def _unique(pairs):
    """An object of pairs of name and value."""
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        raise InputError(f"the name {brief(counts.most_common(1)[0][0])} is twice in one object")
    return found
