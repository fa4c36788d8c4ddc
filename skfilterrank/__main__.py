"""``python -m skfilterrank``."""

import sys

from skfilterrank.cli import main

sys.exit(main())
