"""The gallery: which examples run here, in which order, and results that are kept for the others.

An example says what public data it needs in a line ``# Data: folder`` below its docstring. Where
the data are absent, its page shows the pictures and the output of an earlier run, which the folder
``kept`` beside it has. ``python docs/gallery_files.py`` regenerates them where the data are.
"""

import contextlib
import io
import re
import runpy
import shutil
from pathlib import Path

from skfilterrank.datasets._semeval import find_data_home

EXAMPLES = Path(__file__).parent.parent / "examples"
_DATA = re.compile(r"^# Data: (.+)$", re.MULTILINE)
# Most wanted first.
SECTIONS = ["tasks", "papers"]
ORDER = [
    "plot_hide_forbidden_lightgbm",
    "plot_tuned_threshold",
    "plot_certified_reranker",
    "plot_two_models",
    "plot_tune_ranker_with_threshold",
    "plot_search_rankers",
    "plot_nested_cv",
    "plot_evaluate_runs",
    "plot_compare_systems",
    "plot_measures_disagree",
    "plot_uninformative_queries",
    "plot_fuse_runs",
    "plot_judge_next",
    "plot_complete_labels",
    "plot_rank_without_judgments",
    "plot_carmel_2022",
    "plot_karmaker_feng_2022",
    "plot_diaz_mitra_2023",
    "plot_hui_berberich_2015",
    "plot_sakai_lin_2010",
]
NOTE = """.. note::

   This page was built without the public data of the example. Its program did not run here;
   the pictures and the output are those of an earlier run with the data.

{pictures}

.. code-block:: none

{output}

"""


def section_key(folder: str) -> int:
    """Place of a folder of examples in the gallery."""
    return SECTIONS.index(Path(folder).name)


def example_key(filename: str) -> int:
    """Place of an example in its section."""
    return ORDER.index(Path(filename).stem)


def needed_data(path: Path) -> list[str]:
    """Folders of public data that an example needs."""
    return _DATA.findall(path.read_text(encoding="utf-8"))


def missing_data(path: Path) -> list[str]:
    """Folders of public data that an example needs and that are not here."""
    return [name for name in needed_data(path) if not (find_data_home() / name).is_dir()]


def runnable_pattern() -> str:
    """For sphinx-gallery's `filename_pattern`: the examples that can run here."""
    names = [
        re.escape(str(path.relative_to(EXAMPLES)))
        for path in sorted(EXAMPLES.rglob("plot_*.py"))
        if not missing_data(path)
    ]
    return f"({'|'.join(names)})$"


def kept_output(path: Path) -> Path:
    """File with the output of an earlier run of an example."""
    return path.parent / "kept" / f"{path.stem}.txt"


def kept_pictures(path: Path) -> list[Path]:
    """Pictures of an earlier run of an example."""
    return sorted((path.parent / "kept").glob(f"{path.stem}_*.png"))


def _place(picture: Path) -> Path:
    """Place of a kept picture in the gallery's folder, named as sphinx-gallery names its own."""
    return picture.relative_to(EXAMPLES).parent.parent / "images" / f"sphx_glr_{picture.name}"


def place_kept_pictures(app) -> None:
    """Copy kept pictures, and a thumbnail, into the gallery for examples that cannot run."""
    from sphinx_gallery.utils import scale_image

    for path in sorted(EXAMPLES.rglob("plot_*.py")):
        if missing_data(path):
            places = [Path(app.srcdir) / "gallery" / _place(each) for each in kept_pictures(path)]
            thumbnail = places[0].parent / "thumb" / f"sphx_glr_{path.stem}_thumb.png"
            thumbnail.parent.mkdir(parents=True, exist_ok=True)
            for picture, place in zip(kept_pictures(path), places):
                shutil.copy(picture, place)
            scale_image(str(places[0]), str(thumbnail), 400, 280)


def show_kept_results(app, docname, source) -> None:
    """Put the kept pictures and output before the program on the page of an example not run."""
    path = EXAMPLES / f"{docname.removeprefix('gallery/')}.py"
    if docname.startswith("gallery/") and path.is_file() and missing_data(path):
        title = path.read_text(encoding="utf-8").splitlines()[1]
        output = kept_output(path).read_text(encoding="utf-8").rstrip()
        note = NOTE.format(
            pictures="\n\n".join(
                f".. image:: /gallery/{_place(each).as_posix()}\n   :alt: {title}"
                for each in kept_pictures(path)
            ),
            output="\n".join(f"   {line}".rstrip() for line in output.splitlines()),
        )
        before, program, after = source[0].partition(".. code-block:: Python")
        source[0] = f"{before}{note}{program}{after}"


def keep_results() -> None:
    """Run the examples whose public data are here, and keep their pictures and output."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    for path in sorted(EXAMPLES.rglob("plot_*.py")):
        if not needed_data(path) or missing_data(path):
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            runpy.run_path(str(path), run_name="__main__")
        kept_output(path).parent.mkdir(exist_ok=True)
        kept_output(path).write_text(output.getvalue(), encoding="utf-8")
        for old in kept_pictures(path):
            old.unlink()
        for number in plt.get_fignums():
            picture = kept_output(path).with_name(f"{path.stem}_{number:03d}.png")
            plt.figure(number).savefig(picture, dpi=80)
            # Few colours: a picture of some kilobytes.
            Image.open(picture).convert("RGB").quantize(64).save(picture, optimize=True)
            print(picture.relative_to(EXAMPLES))
        plt.close("all")


if __name__ == "__main__":
    keep_results()
