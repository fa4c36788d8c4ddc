"""HTML pages from templates of the package; importing it needs jinja2."""

import base64
import hashlib

from skfilterrank._base.lazy_names import import_optional
from skfilterrank._base.words import printable

import_optional("jinja2", "an HTML report", "'skfilterrank[report]'")

import jinja2  # noqa: E402
from markupsafe import Markup  # noqa: E402
from markupsafe import escape as escape  # noqa: E402


def isolated(name) -> Markup:
    """Wrap a name in a <bdi> element, since it may be in a right-to-left script."""
    return name if isinstance(name, Markup) else Markup("<bdi>{}</bdi>").format(printable(name))


def render_page(package: str, template: str, parts: dict, **filters) -> str:
    """Fill a template of a package with values and functions."""
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
    """Return the hash of a script or style for the page's Content-Security-Policy."""
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
