"""Formulas as MathML, which browsers draw by themselves: nothing is fetched, no script runs."""

from latex2mathml.converter import convert
from sphinx.util.math import get_node_equation_number


def visit_inline(self, node):
    """A formula within a line."""
    self.body.append(convert(node.astext(), display="inline"))
    raise _skip()


def visit_block(self, node):
    """A formula of its own, in a box that scrolls where the screen is narrow."""
    number = get_node_equation_number(self, node) if node["number"] else None
    self.body.append('<div class="formula">')
    self.body.append(convert(node.astext(), display="block"))
    if number:
        self.body.append(f"<span>({number})</span>")
    self.body.append("</div>")
    raise _skip()


def _skip():
    from docutils.nodes import SkipNode

    return SkipNode()


def setup(app):
    """Make it the way in which HTML shows formulas."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
