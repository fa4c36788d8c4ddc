"""Values with honest intervals from people's labels of a sample and machines' labels of the rest.

**Two targets.** *These topics*: the value that the topics at hand would have, were every document
of the pool judged by people; the sample of documents is all that chance decides. *New topics*: the
mean over the topics that these were drawn from; chance decides of the topics, too.

**Linear measures.** DCG, precision and RBP add up what each document's label is worth at its place.
Predict the labels, add the predictions up, and correct by the sample's errors, each divided by its
probability to be drawn (the difference estimator; prediction-powered inference): unbiased whatever
the predictions are, and the narrower the better they are. Predictions are learned from the sample,
each document's from other folds than its own, and folds are drawn independently of each
other, so that learning does not make them biased either.

**Ratios.** nDCG, nDCG_f, AP and recall divide by what all labels of a topic decide. The library
declares each of them as a sum over documents, with weights that depend on how many labels of each
grade there are. Its expected value under the predicted probabilities of all labels takes the place
of the sum of predictions, and the change that one label makes, on average over all others, that of
the weight (the first term of Hoeffding's decomposition). For linear measures the two are the same.
What is left out has mean 0 where the probabilities are right, and is not divided by inclusion
probabilities.

**Everything else** (ERR, RR, lexirecall) needs whole topics: PPI++ over topics.

**The design.** Elimination sampling (Tillé 1996): exact probabilities for a fixed number of
documents, each sample inside the next, so that judging goes on in batches under the probabilities
of the whole; joint probabilities in closed form, against which the variance approximation
is tested. Documents are drawn in proportion to what their labels change, times how unsure
the machine is of them.

**No interval** can be had from labels that a strategy chose: what it left out it left out for a
reason. They are kept as certain, and a sample is drawn from the rest.
"""

from typing import TYPE_CHECKING

from skfilterrank._names import names_of
from skfilterrank.estimation._estimate import estimate
from skfilterrank.estimation._estimates import EstimatedDifferences, Estimates, MeasureEstimate
from skfilterrank.estimation._machine import MachineReport, machine_report
from skfilterrank.estimation._pool import RankedPool
from skfilterrank.estimation._sample import draw_sample

__all__ = [
    "EstimatedDifferences",
    "Estimates",
    "MachineReport",
    "MeasureEstimate",
    "RankedPool",
    "draw_sample",
    "estimate",
    "machine_report",
]

if not TYPE_CHECKING:  # which would take any name for one that is there
    __getattr__ = names_of(__name__)
