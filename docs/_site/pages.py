"""The pages that are made when the site is built, and links that lead out of the site's folder."""

import re
import shutil
import tomllib
from pathlib import Path

import gallery_files
from skfilterrank.datasets import make_rank_and_filter

from . import benchmarks, citing, measures, pictures
from .public import things

DOCS = Path(__file__).parent.parent
ROOT = DOCS.parent
# Files of the project that have a page of another name.
PAGES = {
    "../README.md": "index.md",
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changelog.md",
}
# Included here and not by the directive, whose links would be those of another folder.
WORDS = tomllib.loads((DOCS / "search_words.toml").read_text(encoding="utf-8"))
RULES = "```{include} ../CONTRIBUTING.md\n```\n"
CHANGES = "```{include} ../CHANGELOG.md\n```\n"


def write_pages(app) -> None:
    """Write what is made of the code and of the results, each file where it changed alone."""
    texts = {
        f"measures/{name}.md": measures.page(name, pictures.of(name))
        for names in measures.families().values()
        for name in names
    }
    texts |= {f"benchmarks/{name}": text for name, text in benchmarks.pages().items()}
    texts["citing/sources.md"] = citing.sources(things())
    for folder in ("measures", "benchmarks", "citing"):
        (DOCS / folder).mkdir(exist_ok=True)
        for old in (DOCS / folder).glob("*.md"):
            if f"{folder}/{old.name}" not in texts:
                old.unlink()
    for name, text in texts.items():
        path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    for suffix in ("png", "csv"):
        for beside in benchmarks.RESULTS.glob(f"*.{suffix}"):
            shutil.copy(beside, DOCS / "benchmarks")


def remove_stale(app) -> None:
    """Remove pages that were written for names and examples that are no more."""
    known = things()
    for path in (DOCS / "api").glob("*.rst"):
        if path.stem not in known:
            path.unlink()
    gallery = DOCS / "gallery"
    for path in gallery.rglob("*.rst"):
        example = ROOT / "examples" / path.relative_to(gallery).with_suffix(".py")
        if path.stem != "index" and not example.exists():
            path.unlink()


def link_within(app, docname, source) -> None:
    """Let links to files of the project lead to their pages, where they have one."""
    up = "../" * docname.count("/")
    text = source[0]
    if docname == "measures":
        # Its names become links here; where it is read as a file, there are no pages to link.
        text = re.sub(r"^\| `(\w+)(@k)?` \|", r"| [`\1\2`](measures/\1.md) |", text, flags=re.M)
        text += f"\n{measures.tree()}"
    text = re.sub(
        r"\]\((?:\.\./)*benchmarks/results/(\w+)\.md(#[^)]*)?\)", rf"]({up}benchmarks/\1.md)", text
    )
    text = re.sub(r"\]\((?:\.\./)*measures\.md#(\w+)\)", rf"]({up}measures/\1.md)", text)
    for outside, page in PAGES.items():
        text = text.replace(f"]({outside})", f"]({up}{page})")
    if docname.startswith("benchmarks/"):
        # Other files of the project have no page.
        text = re.sub(r"\[([^\]]*)\]\((?:\.\./){2}[^)]*\)", r"\1", text)
    text = text.replace(RULES, rules()).replace(CHANGES, changes())
    if docname == "calculator":
        text = text.replace("ROWS</textarea>", f"{rows_to_try()}</textarea>")
    source[0] = found_by_words(docname, text)


def found_by_words(docname, text) -> str:
    """Let the search find a page by the words of docs/search_words.toml, too."""
    entries = "".join(f"```{{index}} ! {word}\n```\n" for word in WORDS.get(docname, ()))
    title, _, rest = text.partition("\n\n")
    return f"{title}\n\n{entries}\n{rest}" if entries else text


def rules() -> str:
    """Return CONTRIBUTING.md below its title, with links as of a page beside it."""
    _, _, text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("\n\n")
    return text.replace("](docs/contributing.md#", "](#").replace("](docs/", "](")


def changes() -> str:
    """The changelog, with links as of a page of the site."""
    return (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").replace("](docs/", "](")


def rows_to_try() -> str:
    """Rows of 60 generated queries, as the calculator reads them."""
    _, labels, queries, scores = make_rank_and_filter(n_queries=60, random_state=0)
    rows = zip(queries, labels, scores, strict=True)
    return "\n".join(f"{query}, {label}, {score:.4f}" for query, label, score in rows)


# Whose members stand on their own pages.
FRAMEWORKS = {"pydantic", "langchain_core", "llama_index", "haystack"}


def is_not_ours(app, what, name, obj, skip, options) -> bool | None:
    """Leave out scikit-learn's requests for metadata, and what classes inherit from frameworks."""
    home = getattr(getattr(obj, "fget", None) or obj, "__module__", None) or ""
    is_foreign = home.partition(".")[0] in FRAMEWORKS
    is_request = re.fullmatch(r"set_\w+_request|get_metadata_routing", name)
    return True if is_foreign or is_request else None


def keep_underscores(app, what, name, obj, options, lines) -> None:
    """Keep attributes in shapes, such as n_features_in_, from being read as links."""
    lines[:] = [
        re.sub(r"shape \([^)]*\)", lambda match: re.sub(r"_(?=[,)])", r"\\_", match[0]), line)
        for line in lines
    ]


def setup(app):
    """Hook into the build."""
    app.connect("builder-inited", remove_stale, priority=90)
    app.connect("builder-inited", write_pages, priority=100)
    # Behind sphinx-gallery, which makes placeholders.
    app.connect("builder-inited", gallery_files.place_kept_pictures, priority=900)
    app.connect("source-read", link_within)
    app.connect("source-read", gallery_files.show_kept_results)
    app.connect("autodoc-skip-member", is_not_ours)
    app.connect("autodoc-process-docstring", keep_underscores, priority=600)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
