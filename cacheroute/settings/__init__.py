"""One tree of options; the only place that reads the environment.

`load` is the way in. `tree` holds the settings themselves, `names` every published name,
`render` the tables people read.
"""

from cacheroute.settings.instances import Backend, StaticInstance
from cacheroute.settings.load import Loaded, load
from cacheroute.settings.tree import Settings

__all__ = ["Backend", "Loaded", "Settings", "StaticInstance", "load"]
