"""`python -m helpers.links`; notebooks that were saved earlier also look for this file."""

from helpers.project.links import main

if __name__ == "__main__":
    main()
