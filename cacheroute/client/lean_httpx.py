"""httpx without its command line.

Imported as it is, httpx loads click, rich and pygments for an `httpx` command nobody here runs:
46 of its 112 ms, and a `cacheroute status` has 350 for everything.
"""

import sys
from typing import Any, cast

_ITS_COMMAND_LINE = "httpx._main"

_modules = cast("dict[str, Any]", sys.modules)
if "httpx" not in _modules:
    # A None here makes the import fail, which httpx takes for "not installed".
    _modules.setdefault(_ITS_COMMAND_LINE, None)

import httpx as httpx  # noqa: E402 - what stands above is about this very import

if _modules.get(_ITS_COMMAND_LINE, httpx) is None:
    del _modules[_ITS_COMMAND_LINE]
