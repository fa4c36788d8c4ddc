"""Features of a comment in its thread, beyond those of `make_text_features`."""

import re

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

THANKS = r"\bthank|\bthx\b|\btnx\b"
# What a comment contains, and per word how often.
PATTERNS = {
    "thanks": THANKS,
    "asks": r"^\s*(?:what|where|who|how|when|why|is|are|do|does|can|which|did)\b",
    "you": r"\byou\b|\bur\b|\bu\b",
    "i": r"\bi\b|\bmy\b|\bme\b",
    "laughs": r"\blol\b|haha|hehe|\brofl|\blmao|:\)|:d|;\)",
    "imperative": r"\b(?:try|check|go|call|visit|ask|contact|see|get|buy|look)\b",
    "modal": r"\b(?:can|could|should|may|might|would|will|must)\b",
    "negates": r"\bno\b|\bnot\b|n't|\bnever\b",
    "address": r"PHONE|EMAIL|phone|tel\b",
    "link": r"http|www\.",
    "money": r"\bqr\b|\bqar\b|\briyal|\d+k\b",
    "place": r"\bnear|\bsouq|\bmall\b|\bcenter|\bstreet|\broad|\bdoha\b|carrefour|lulu|city",
    "greets": r"welcome|congrat|good luck|happy|hello|\bhi\b|\bhey",
    "private": r"\bpm\b|inbox|message me",
    "agrees": r"same (?:here|question|problem)|agree|\bme too\b",
    "quotes": r"said:|wrote|\"",
    "dots": r"\.\.\.",
    "exclaims": r"!",
    "question_mark": r"\?",
    "names": r"^\s*@|^\s*\w+\s*[,:;-]",
    "digit": r"\d",
    "capitals": r"[A-Z]{3,}",
    "bracket": r"\(|\)",
    "symbols": r"&|<|>|\*",
}
CASED = {"address", "capitals"}
QUESTION = {
    "question_wh": r"\b(?:where|how|which|what|who)\b",
    "question_help": r"\b(?:any|anyone|anybody|recommend|advi[cs]e|suggest|help)\b",
}


def question_text(X):
    """Subject and body of each row's question."""
    return X["question_subject"].fillna("") + " " + X["question_body"].fillna("")


def plain(text):
    """Lower case, every number the same."""
    return text.map(lambda each: re.sub(r"\d+", "0", each.lower()))


def thread_features(X):
    """What a comment says, when, and how the thread goes on; no labels, no texts of others."""
    comment = X["comment"].fillna("")
    n_words = comment.str.count(r"\S+").clip(lower=1)
    out = {}
    for name, pattern in PATTERNS.items():
        count = comment.str.count(pattern, flags=0 if name in CASED else re.IGNORECASE)
        out[name] = count > 0
        out[f"{name}_rate"] = count / n_words
    question = question_text(X)
    out["question_length"] = np.log1p(question.str.len())
    out["question_marks"] = question.str.count(r"\?").clip(upper=5)
    for name, pattern in QUESTION.items():
        out[name] = question.str.contains(pattern, case=False)
    asked, written = pd.to_datetime(X["question_date"]), pd.to_datetime(X["date"])
    out["hours"] = _hours(written - asked)
    return pd.DataFrame(out).astype(float).join(_in_thread(X, comment, written))


def _in_thread(X, comment, written):
    """What depends on the comments before and after, in the order of the thread."""
    frame = pd.DataFrame(
        {
            "thread": X["qid"],
            "position": X["position"],
            "user": X["user"],
            "written": written,
            "asker": (X["user"] == X["question_user"]).astype(float),
            "thanks": comment.str.contains(THANKS, case=False).astype(float),
            "asks": comment.str.contains(r"\?").astype(float),
            "length": np.log1p(comment.str.len()),
        }
    ).sort_values(["thread", "position"])
    thread = frame.groupby("thread")
    thanked = frame["thanks"] * frame["asker"]
    later = thanked[::-1].groupby(frame["thread"]).cumsum()
    follow_up = frame["asks"] * frame["asker"]
    user = frame.groupby(["thread", "user"])
    return (
        pd.DataFrame(
            {
                "gap": _hours(thread["written"].diff()),
                "gap_next": _hours(-thread["written"].diff(-1)),
                "asker": frame["asker"],
                "thanked_next": thanked.groupby(frame["thread"]).shift(-1),
                "asker_next": thread["asker"].shift(-1),
                "thanked_later": later - thanked,
                "follow_up_next": follow_up.groupby(frame["thread"]).shift(-1),
                "length": frame["length"],
                "length_rank": thread["length"].rank(pct=True),
                "longer_before": thread["length"].cummax() - frame["length"],
                "first_of_user": user.cumcount() == 0,
                "n_users": thread["user"].transform("nunique"),
                "n_of_user": user["user"].transform("size"),
            }
        )
        .fillna(0)
        .astype(float)
    )


def _hours(time):
    """Logarithm of hours, 0 where unknown."""
    return np.log1p((time.dt.total_seconds() / 3600).clip(lower=0).fillna(0))


class LatentSimilarity(TransformerMixin, BaseEstimator):
    """Cosines of a comment with its question and with the other comments, after LSA.

    The words and the dimensions come from the texts of the rows that it is fitted on.
    """

    def __init__(self, n_components=100):
        self.n_components = n_components

    def fit(self, X, y=None):
        texts = pd.concat(
            [plain(X["comment"].fillna("")), plain(question_text(X)).drop_duplicates()]
        )
        self.words_ = TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True).fit(texts)
        self.svd_ = TruncatedSVD(self.n_components, random_state=0)
        self.svd_.fit(self.words_.transform(texts))
        return self

    def transform(self, X):
        comment, question = self._vectors(X["comment"].fillna("")), self._vectors(question_text(X))
        threads = X["qid"].to_numpy()
        sums = pd.DataFrame(comment).groupby(threads).transform("sum").to_numpy()
        to_question = (comment * question).sum(axis=1)
        to_others = (comment * _unit(sums - comment)).sum(axis=1)
        rank = pd.Series(to_question).groupby(threads).rank(pct=True)
        return np.column_stack([to_question, to_others, rank])

    def _vectors(self, texts):
        return _unit(self.svd_.transform(self.words_.transform(plain(texts))))


def _unit(vectors):
    """Vectors of length 1, or 0."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
