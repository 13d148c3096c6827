"""What the process may use of the machine, asked before the heavy libraries are loaded: some of them abort or hang."""

from __future__ import annotations

import sys

from indistinct.errors import UnsupportedError

# measured on 2 cores: `anonymize` reserves up to 2.6 million kB for 120 rows, 2.8 for 20,000; with 2.5 some runs failed
ADDRESS_SPACE = 3_000_000  # kB, as `ulimit -v` counts


def check_address_space() -> None:
    """Raise UnsupportedError where the process is limited to less address space than the libraries reserve.

    They reserve far more than they fill: 3 GB of address space stand for 0.3 GB of memory.

    >>> check_address_space()
    """
    if sys.platform == "win32":  # has no such limits
        return
    import resource

    limit, most = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY or limit >= ADDRESS_SPACE * 1024:
        return
    enough = most == resource.RLIM_INFINITY or most >= ADDRESS_SPACE * 1024
    remedy = f'raise it by "ulimit -v {ADDRESS_SPACE}"' if enough else "whoever set it has to raise it"
    raise UnsupportedError(
        f"this process may use {limit / 1e9:.1f} GB of address space (ulimit -v {limit // 1024}), and the libraries of"
        f" indistinct reserve about 3 GB even for a small table (ulimit -v {ADDRESS_SPACE}); {remedy}"
    )
