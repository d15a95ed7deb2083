"""``python -m lincfa.cli``, where the command ``lincfa`` is not on the path."""

import sys

from ._main import main

if __name__ == "__main__":
    sys.exit(main())
