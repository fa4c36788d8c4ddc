"""Assessors that answer by a script, and what they judge."""

import pandas as pd

from active_pools import table_of

SKIP, STOP, UNDO = "skip", "stop", "undo"


TRUTH = dict(zip("abcdefgh", [2, -1, 0, 1, 0, 0.5, 0, 1]))


def truth(question):
    return TRUTH[question.docno]


def two_queries():
    return pd.concat([table_of(["abcd", "cde"]), table_of(["hga", "fgb"], qid="2")])


class Script:
    """An assessor that gives these answers one after the other, then the truth."""

    def __init__(self, *answers):
        self.answers, self.questions = list(answers), []

    def __call__(self, question):
        self.questions.append(question)
        if self.answers:
            answer = self.answers.pop(0)
            if isinstance(answer, BaseException):
                raise answer
            return truth(question) if answer == "truth" else answer
        return truth(question)

    @property
    def asked(self):
        return "".join(question.docno for question in self.questions)


def labels(qrels):
    return list(qrels.itertuples(index=False, name=None))
