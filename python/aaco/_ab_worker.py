"""The measuring process of aaco.ab()."""
import sys

from aaco import _core, _world


def main() -> None:
    """Serves the sides that the arguments describe, each as JSON after a '--'."""
    _core.serve_ab(_world.current(), [word for word in sys.argv[1:] if word != '--'])
