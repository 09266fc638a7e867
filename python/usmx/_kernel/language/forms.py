"""Names that stand for an expression of the kernel language, which is compiled in their place.

So another language's name, such as CUDA's ``threadIdx.x``, is a line of text here, and neither the
compiler nor the simulator has to know it.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from .functions import DeviceOnly

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

#: Names of the operands in a text, in the order of the parameters.
OPERANDS = "abcdef"


class Form(DeviceOnly):
    """A function, or a value, that is an expression of the kernel language.

    Parameters
    ----------
    name, doc : str
        For messages outside of kernels.
    text : str or callable
        An expression of the operands ``a``, ``b``, ...; a name in braces is that function. A
        callable is given the rank of the launch, and the numbers of the operands if `counts`.
    parameters : str
        Names of the parameters, separated by blanks; None for a value, which is not called. One
        that ends with ``?`` may be left out, and is a zero then.
    counts : bool
        Whether the operands are ints that are known when compiling.
    gives : str
        The kind of what it gives; empty for nothing.
    """

    def __init__(
        self,
        name: str,
        doc: str,
        text: str | Callable[..., str],
        parameters: str | None = None,
        *,
        counts: bool = False,
        gives: str = "number",
    ) -> None:
        super().__init__(name, doc, parameters or "", "" if parameters is None else gives)
        self.text = text
        self.counts = counts
        self.is_value = parameters is None
        names = (parameters or "").split()
        self.parameters: tuple[str, ...] = tuple(n.removesuffix("?") for n in names)
        self.least: int = sum(not n.endswith("?") for n in names)

    def of(self, rank: int, *numbers: int) -> str:
        """The expression for a launch of that rank.

        Raises
        ------
        ValueError
            There is none for these numbers.
        """
        return self.text if isinstance(self.text, str) else self.text(rank, *numbers)
