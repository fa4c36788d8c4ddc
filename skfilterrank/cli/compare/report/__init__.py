"""The report of ``skfilterrank compare``: one HTML file that needs nothing else."""

from skfilterrank.cli.compare.report.estimates import write_report_of_estimates
from skfilterrank.cli.compare.report.report import write_report

__all__ = ["write_report", "write_report_of_estimates"]
