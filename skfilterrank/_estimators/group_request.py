"""Requests of scorers to scikit-learn's metadata routing."""

from typing import Self

from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from skfilterrank._lists.sklearn_compat import metadata_routing_enabled
from skfilterrank.exceptions import InputError


class RequestsGroups:
    """A scorer that asks for query ids and weights, by their names unless it is told others."""

    _requests: dict[str, bool | str | None] = {"groups": True, "query_weight": True}  # noqa: RUF012

    def set_score_request(
        self,
        *,
        groups: bool | str | None = UNCHANGED,
        query_weight: bool | str | None = UNCHANGED,
    ) -> Self:
        """Tell scikit-learn's metadata routing what to hand the scorer.

        Splitters ask for `groups`, too. Where these are no queries, such as the segments of
        LeaveOneGroupOut, the scorer takes the query ids by another name.

        Parameters
        ----------
        groups : bool, str or None
            A name: take what is passed by it, as in ``set_score_request(groups="qid")`` with
            ``params={"groups": segments, "qid": query_ids}``. True: take `groups`. False: take
            nothing, and read the index level "qid" of `y`. None: raise where `groups` is passed.
            Not given, it stays as it is.
        query_weight : bool, str or None
            The same for weights of queries.

        Returns
        -------
        self : RankingScorer
            The scorer itself.

        Raises
        ------
        ValueError
            If metadata routing is off, or one of the two is no name.
        """
        if not metadata_routing_enabled():
            raise InputError(
                "set_score_request is for scikit-learn's metadata routing: switch it on by "
                "sklearn.set_config(enable_metadata_routing=True)."
            )
        given = {"groups": groups, "query_weight": query_weight}
        changed = {name: alias for name, alias in given.items() if alias != UNCHANGED}
        requests = self._requests | changed
        _request(self, requests)
        self._requests = requests
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Tell scikit-learn that `groups` and `query_weight` are wanted for scoring."""
        return _request(self, self._requests)


def _request(owner, requests):
    """Return the request of something that scores."""
    request = MetadataRequest(owner=owner)
    for name, alias in requests.items():
        request.score.add_request(param=name, alias=alias)
    return request
