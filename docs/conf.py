"""The site: `make site` builds it into docs/_build/html."""

import sys
from pathlib import Path

import skfilterrank

sys.path.insert(0, str(Path(__file__).parent))

from gallery_files import runnable_pattern

project = "skfilterrank"
author = "The skfilterrank developers"
project_copyright = author
version = release = skfilterrank.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "_site.mathml",
    "_site.pages",
]
exclude_patterns = ["_build", "_site", "_templates"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
default_role = "literal"
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "attrs_inline"]
myst_heading_anchors = 4
# Tables of results begin where their script begins them.
suppress_warnings = ["myst.header"]

autosummary_generate = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    # Examples whose data are not here show results that are kept.
    "filename_pattern": runnable_pattern(),
    "download_all_examples": False,
    # As many examples at a time as sphinx has processes (-j).
    "parallel": True,
    "min_reported_time": 5,
    "write_computation_times": False,
    "show_memory": False,
    "subsection_order": "gallery_files.section_key",
    "within_subsection_order": "gallery_files.example_key",
    # Pages of the API show the examples that use them.
    "backreferences_dir": "gallery/used",
    "doc_module": ("skfilterrank",),
}

html_theme = "pydata_sphinx_theme"
html_context = {"default_mode": "auto"}
html_title = "skfilterrank"
html_favicon = "_static/favicon.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(Path(__file__).parent / "_static" / "search_scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": [], "measures": [], "cite": [], "changelog": []}
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "skfilterrank",
    },
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["version"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
