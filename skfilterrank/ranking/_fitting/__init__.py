"""Any estimator fitted with its queries, on all rows or fold by fold."""
