import io

import pytest

from skfilterrank.io import read_run

NAMES = ("words", "links", "noise")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    """Three runs of ten topics and judgments, in the working folder; the runs as frames."""
    monkeypatch.chdir(tmp_path)
    texts, judged = dict.fromkeys(NAMES, ""), ""
    for topic in range(10):
        for document in range(8):
            label = (topic * document) % 3
            scores = (
                label + (document * 7 + topic) % 5 / 3,
                2 * label + (document * 5 + topic) % 7,
                (document * 3 + topic * topic) % 11,
            )
            judged += f"{topic} 0 d{document} {label}\n"
            for name, score in zip(NAMES, scores):
                if (document + topic) % 4 != len(name) % 4:
                    texts[name] += f"{topic} Q0 d{document} 1 {score:.4f} {name}\n"
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
    (tmp_path / "qrels").write_text(judged)
    return {name: read_run(f"{name}.txt") for name in NAMES}


@pytest.fixture
def fuse(run, runs):
    """Run the command, expect that it works, and return the fused run and the messages."""

    def fuse(*arguments):
        code, out, err = run("fuse", *(f"{name}.txt" for name in NAMES), *arguments)
        assert code == 0, err
        return read_run(io.BytesIO(out.encode())) if out else None, err

    return fuse
