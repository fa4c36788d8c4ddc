"""A generator of logs of a marketplace, in which some items are spam and a part is reported."""

import numpy as np
import pandas as pd
from scipy.special import expit

from skfilterrank._lists.checks import check_count, check_number, check_random_state
from skfilterrank.exceptions import InputError


def make_marketplace(
    n_sessions: int = 3000,
    n_items: int = 20,
    *,
    n_catalog: int = 4000,
    spam_share: float = 0.08,
    spam_signal: float = 1.0,
    random_state: int | np.random.RandomState | None = None,
) -> pd.DataFrame:
    r"""Draw search sessions of a marketplace with clicks, purchases and reports of spam.

    What sells and what is spam are different properties of an item, so that one model cannot
    easily serve both. Labels come from behaviour: items shown further down are seen less often.

    Parameters
    ----------
    n_sessions : int, default=3000
        Number of sessions, each a query with its list.
    n_items : int, default=20
        Items of each session.
    n_catalog : int, default=4000
        Items that sessions draw from, at least `n_items`.
    spam_share : float, default=0.08
        Expected share of spam in the catalog, between 0 and 1.
    spam_signal : float, default=1.0
        Strength of the features that give spam away, from 0 for none. At 1 spam is hard to tell: by
        "reports" and "flag" a pair of spam and another item is told apart 8 times of 10. At 3 it
        is easy.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same data in every call.

    Returns
    -------
    DataFrame of shape (n_sessions * n_items, 9)
        A row for each item of each session, session by session:

        session : int
            The query.
        label : float
            -1 reported, 0 neither, 1 clicked, 3 bought.
        spam : bool
            Truth: not every spam is seen and reported. No feature.
        match, quality : float
            How well the item matches the query, and how good it is, with noise.
        rating : float
            Stars from 1 to 5, lower for spam; NaN for a tenth of the rows.
        price : float
            Logarithm of the price.
        reports : int
            Earlier reports of the item.
        flag : float
            Score of a weak detector of spam.

    Raises
    ------
    TypeError
        If a number is of the wrong type.
    ValueError
        If a number is out of range.

    See Also
    --------
    make_rank_and_filter : Documents whose best scores are known.

    Notes
    -----
    With z standard normal, an item has the utility
    :math:`u = 1.3 m + 0.8 q + 0.35 (s - 4) - 1` by its match m, quality q and stars s, and is
    relevant with the probability :math:`p = 1 / (1 + e^{-u + 0.3 \log(price)})`. Items are placed
    by :math:`0.6 m + 0.5 q + z`, to which spam adds 0.8, and are seen at place i with the
    probability :math:`i^{-0.8}`. An item that is seen is clicked with the probability p, spam with
    0.3 more; p / 4 of the clicks buy, none of spam. Spam at place i is reported with the
    probability :math:`0.25 + i^{-0.8} / 2`. "reports" are Poisson with mean 0.3, plus `spam_signal`
    for spam, and "flag" is z, plus 0.6 `spam_signal` for spam.

    The catalog is cut into `n_items` parts at random, of which each session shows one item each.

    Examples
    --------
    >>> from skfilterrank.datasets import make_marketplace
    >>> log = make_marketplace(n_sessions=500, random_state=0)
    >>> log.shape
    (10000, 9)
    >>> sorted(log["label"].unique().tolist())
    [-1.0, 0.0, 1.0, 3.0]
    >>> bool(log.loc[log["label"] < 0, "spam"].all())  # only spam is reported, but not all of it
    True
    >>> bool((log.loc[log["spam"], "label"] < 0).all())
    False
    """
    check_count(n_sessions, "n_sessions")
    check_count(n_items, "n_items")
    check_count(n_catalog, "n_catalog")
    if n_catalog < n_items:
        raise InputError(
            f"n_catalog must be at least n_items={n_items}, got {n_catalog}. Raise n_catalog."
        )
    check_number(spam_share, "spam_share", least=0, most=1)
    check_number(spam_signal, "spam_signal", least=0)
    rng = check_random_state(random_state)
    is_spam = rng.uniform(size=n_catalog) < spam_share
    price = rng.normal(3, 1, n_catalog)
    stars = np.clip(rng.normal(4, 0.6, n_catalog) - 0.5 * is_spam, 1, 5)
    quality = rng.normal(0, 1, n_catalog) - 0.5 * is_spam

    shape = (n_sessions, n_items)
    edges = np.linspace(0, n_catalog, n_items + 1).astype(np.intp)
    drawn = edges[:-1] + (rng.uniform(size=shape) * np.diff(edges)).astype(np.intp)
    item = rng.permutation(n_catalog)[drawn]
    spam, match = is_spam[item], rng.normal(size=shape)
    utility = 1.3 * match + 0.8 * quality[item] + 0.35 * (stars[item] - 4) - 1.0
    relevance = expit(utility - 0.3 * price[item])
    placed_by = 0.6 * match + 0.5 * quality[item] + rng.normal(size=shape) + 0.8 * spam
    place = 1 + np.argsort(np.argsort(-placed_by, axis=1), axis=1)
    seen = place**-0.8
    clicked = rng.uniform(size=shape) < seen
    clicked &= rng.uniform(size=shape) < np.clip(relevance + 0.3 * spam, 0, 1)
    bought = clicked & (rng.uniform(size=shape) < 0.25 * relevance) & ~spam
    reported = spam & (rng.uniform(size=shape) < 0.25 + 0.5 * seen)
    rating = np.where(rng.uniform(size=shape) < 0.1, np.nan, stars[item])
    return pd.DataFrame(
        {
            "session": np.repeat(np.arange(n_sessions), n_items),
            "label": np.select([reported, bought, clicked], [-1.0, 3.0, 1.0], 0.0).ravel(),
            "spam": spam.ravel(),
            "match": (match + rng.normal(0, 0.5, shape)).ravel(),
            "quality": (quality[item] + rng.normal(0, 0.5, shape)).ravel(),
            "rating": rating.ravel(),
            "price": price[item].ravel(),
            "reports": rng.poisson(0.3 + spam_signal * spam).ravel(),
            "flag": (rng.normal(size=shape) + 0.6 * spam_signal * spam).ravel(),
        }
    )
