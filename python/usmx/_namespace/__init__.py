"""The functions of arrays: the Array API standard and what NumPy's users expect in addition.

Each topic is a module that is imported when one of its names is first used. To add a
function, write it in the module of its topic and name it in `MODULES`.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from ._elementwise_names import ELEMENTWISE

#: Module -> the names that it gives to `usmx`.
MODULES: dict[str, tuple[str, ...]] = {
    "elementwise": ELEMENTWISE,
    "evaluation": ("Explanation", "PlannedKernel", "eager", "explain"),
}

NAMES = [name for names in MODULES.values() for name in names]
#: Name -> its module.
WHERE = {name: module for module, names in MODULES.items() for name in names}
