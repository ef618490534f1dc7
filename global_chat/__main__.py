"""The program as a module: `python -m global_chat`."""

from __future__ import annotations

import gc
import sys


def main() -> None:
    """Run the command line; an interrupt while it still loads ends it as quietly as a later one."""
    try:
        # Loading takes a quarter of a second, in which Ctrl-C would print a traceback.
        from global_chat.cli.app import main as run  # noqa: PLC0415

        # A large document makes millions of objects and no garbage: look for some less often.
        gc.set_threshold(100_000, 20, 20)
        run()
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        # Everything goes at the end anyway; looking through it for garbage first takes time.
        gc.freeze()


if __name__ == "__main__":
    main()
