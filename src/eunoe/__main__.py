"""`python -m eunoe` and the command `eunoe`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and exit with its code."""
    # Start-up makes many objects and no garbage; without its passes over them it is about a tenth faster.
    import gc  # noqa: PLC0415 - not for those who only import this module

    gc.disable()
    from eunoe.surfaces.cli.main import main as run  # noqa: PLC0415 - after the collector was told to wait

    sys.exit(run())


if __name__ == "__main__":
    main()
