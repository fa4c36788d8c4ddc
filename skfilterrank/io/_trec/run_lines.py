"""Lines of a run, with scores that read back exactly."""

import importlib.util
from functools import cache

import numpy as np

from skfilterrank._files.text_columns import arrow_texts

# Where Arrow writes the digits that Python's repr does; whole numbers lack the ".0".
_LEAST, _MOST = 1e-4, 1e10


def run_lines(queries, documents, ranks, scores, names) -> str:
    """Lines ``qid Q0 docno rank score run``; queries and names are pairs of codes and texts."""
    if _has_arrow():
        return _lines_by_arrow(queries, documents, ranks, scores, names)
    (codes, queries), (name_codes, names) = queries, names
    columns = zip(
        [queries[code] for code in codes.tolist()],
        documents.tolist(),
        ranks.tolist(),
        scores.tolist(),
        [names[code] for code in name_codes.tolist()],
        strict=True,
    )
    lines = [f"{qid} Q0 {doc} {rank} {score!r} {name}\n" for qid, doc, rank, score, name in columns]
    return "".join(lines)


@cache
def _has_arrow():
    return importlib.util.find_spec("pyarrow") is not None


def _lines_by_arrow(queries, documents, ranks, scores, names):
    """The same some four times as fast."""
    import pyarrow as pa
    import pyarrow.compute as pc

    text = pa.large_string()
    (codes, queries), (name_codes, names) = queries, names
    lines = pc.binary_join_element_wise(
        pa.array([f"{qid} Q0" for qid in queries], text).take(pa.array(codes)),
        arrow_texts(documents),
        pa.array(ranks).cast(text),
        score_texts(scores),
        pa.array([f"{name}\n" for name in names], text).take(pa.array(name_codes)),
        pa.scalar(" ", text),
    )
    _, offsets, content = lines.buffers()
    end = np.frombuffer(offsets, dtype=np.int64)[len(lines)]
    return content.slice(0, int(end)).to_pybytes().decode()


def score_texts(scores):
    """What repr gives for each score, as a pyarrow array."""
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pa.array(scores).cast(pa.large_string())
    size = np.abs(scores)
    is_whole = (size < _MOST) & (np.floor(scores) == scores)
    if is_whole.any():
        with_point = pc.binary_join_element_wise(
            texts, pa.scalar(".0", texts.type), pa.scalar("", texts.type)
        )
        texts = pc.if_else(pa.array(is_whole), with_point, texts)
    is_other = ~is_whole & ((size < _LEAST) | (size >= _MOST))
    if is_other.any():
        others = [repr(score) for score in scores[is_other].tolist()]
        texts = pc.replace_with_mask(texts, pa.array(is_other), pa.array(others, texts.type))
    return texts
