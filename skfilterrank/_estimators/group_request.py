"""Requests of scorers to scikit-learn's metadata routing."""

from typing import Self

from sklearn.utils.metadata_routing import UNCHANGED, MetadataRequest

from skfilterrank._lists.sklearn_compat import metadata_routing_enabled
from skfilterrank.exceptions import InputError


class RequestsGroups:
    """Mixin of scorers that request `groups` and `query_weight` from metadata routing."""

    _requests: dict[str, bool | str | None] = {"groups": True, "query_weight": True}  # noqa: RUF012

    def set_score_request(
        self,
        *,
        groups: bool | str | None = UNCHANGED,
        query_weight: bool | str | None = UNCHANGED,
    ) -> Self:
        """Set the metadata that scikit-learn passes to the scorer.

        Splitters request `groups`, too. If these are not queries, such as segments of
        LeaveOneGroupOut, the scorer can get the query ids by another name.

        Parameters
        ----------
        groups : bool, str or None
            A str is the name by which query ids are passed, as in
            ``set_score_request(groups="qid")`` with ``params={"groups": segments, "qid":
            query_ids}``. True requests `groups`. False requests nothing, and the index level "qid"
            of `y` is read. None raises if `groups` is passed. By default the request is not
            changed.
        query_weight : bool, str or None
            The same for weights of queries.

        Returns
        -------
        self : RankingScorer
            The scorer itself.

        Raises
        ------
        ValueError
            If metadata routing is off, or an argument is of a wrong type.
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
        """Return the metadata request: `groups` and `query_weight` for scoring."""
        return _request(self, self._requests)


def _request(owner, requests):
    """Return the metadata request of a scorer."""
    request = MetadataRequest(owner=owner)
    for name, alias in requests.items():
        request.score.add_request(param=name, alias=alias)
    return request
