"""`python3 -m aaco ...` and the command of a wheel: the program aaco that belongs to this package."""
import os
import sys

from aaco._world import program


def main() -> None:
    """Becomes the program, with the same arguments."""
    path = program()
    try:
        os.execvp(path, [path, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f'{path} cannot be started: {error.strerror}\nhint: install the package aaco')


if __name__ == '__main__':
    main()
