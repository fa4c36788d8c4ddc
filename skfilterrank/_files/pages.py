"""HTML pages from templates of the package; importing it needs jinja2."""

import base64
import hashlib

from skfilterrank._lists.words import printable
from skfilterrank.exceptions import MissingPackageError

try:
    import jinja2
    from markupsafe import Markup
    from markupsafe import escape as escape
except ImportError as error:
    raise MissingPackageError(
        "an HTML report needs jinja2, which is not installed: pip install 'skfilterrank[report]'."
    ) from error


def isolated(name) -> Markup:
    """Return a name as an element, since its letters may run from right to left."""
    return name if isinstance(name, Markup) else Markup("<bdi>{}</bdi>").format(printable(name))


def render_page(package: str, template: str, parts: dict, **filters) -> str:
    """Fill a template of a package with what it names: values and functions."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader(package),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
        finalize=lambda value: value if isinstance(value, Markup) else printable(value),
    )
    environment.filters |= {"bdi": isolated, "sha256": _sha256, **filters}
    return environment.get_template(template).render(parts).strip() + "\n"


def _sha256(text):
    """Return the hash by which a browser knows a script or a style."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
