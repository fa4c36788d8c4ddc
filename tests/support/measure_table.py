"""The measures of the package, as everybody may ask for them."""

from skfilterrank.metrics import get_measure, get_measure_names

# By name: what the table says of a measure, such as whether it takes a cut-off.
MEASURES = {name: get_measure(name).measure for name in get_measure_names()}
