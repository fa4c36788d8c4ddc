"""JSON as files hold it, whatever they hold."""

import json

from skfilterrank.exceptions import InputError


def parse_json(text):
    """Value of a JSON text; an error says in a few words what is wrong with it."""
    try:
        value = json.loads(text)
        if "\\ud" in text or "\\uD" in text:
            json.dumps(value, ensure_ascii=False).encode("utf-8")
    except json.JSONDecodeError as error:
        raise InputError(f"{error.msg}, column {error.colno}") from error
    except RecursionError:
        raise InputError("lists or objects are nested too deeply") from None
    except UnicodeEncodeError as error:
        half = ascii(error.object[error.start])[1:-1]
        raise InputError(f"{half} is half of a character") from None
    except ValueError:
        raise InputError("a number has thousands of digits") from None
    return value
