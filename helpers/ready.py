"""`python -m helpers.ready`."""

import sys

from helpers.project.ready import main

if __name__ == "__main__":
    sys.exit(main())
