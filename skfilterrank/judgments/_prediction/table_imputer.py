"""What makes a predictor of labels a scikit-learn transformer of tables."""

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skfilterrank._core.checks import check_choice
from skfilterrank._core.judges import JUDGED_BY
from skfilterrank.exceptions import InputError, brief
from skfilterrank.judgments._prediction.label_table import (
    CONTAINERS,
    LabelTable,
    judges_of,
    names_of,
    output_container,
    read_label_table,
    with_columns,
)


class TableImputer(  # type: ignore[call-arg]  # a keyword of TransformerMixin, which has no types
    TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Reads a judgment table and gives it back with labels, in the kind that is asked for."""

    def __init_subclass__(cls, **kwargs):
        # scikit-learn's wrapper would force the columns of the table `fit` saw upon others.
        super().__init_subclass__(**kwargs | {"auto_wrap_output_keys": None})

    def set_output(self, *, transform=None) -> "TableImputer":
        """Choose the kind of table that comes out.

        Parameters
        ----------
        transform : {"default", "pandas", "polars", None}, default=None
            "default" gives the kind that came; None changes nothing.

        Returns
        -------
        self : TableImputer
            The predictor.
        """
        check_choice(transform, "transform", (*CONTAINERS, None))
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}
        return self

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Columns of the completed table.

        Parameters
        ----------
        input_features : object, default=None
            Not used.

        Returns
        -------
        ndarray of str
            The columns `fit` saw, the mark of imputed rows, and "judged_by".
        """
        check_is_fitted(self)
        added = [] if self.imputed is None else [self.imputed]
        added += [] if JUDGED_BY in self.feature_names_in_ else [JUDGED_BY]
        return np.asarray([*self.feature_names_in_, *added], dtype=object)

    def _read(self, X, needs_label) -> LabelTable:
        """The checked table."""
        table = read_label_table(
            X, query=self.query, document=self.document, label=self.label, needs_label=needs_label
        )
        if self.imputed is not None and self.imputed in names_of(X):
            raise InputError(
                f"X has a column {brief(self.imputed)} already, so that some of its labels may be "
                "predicted ones: set these to NaN and drop the column, or choose another name by "
                "imputed=."
            )
        return table

    def _completed(self, table, predicted):
        """The table with the labels that were found."""
        is_found = np.isnan(table.labels) & ~np.isnan(predicted)
        added = {self.label: np.where(is_found, predicted, table.labels)}
        if self.imputed is not None:
            added[self.imputed] = is_found
        added[JUDGED_BY] = judges_of(added[self.label], is_found)
        return with_columns(table.frame, added, container=output_container(self))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # It takes a table of texts, topics and labels, no matrix of numbers.
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        return tags
