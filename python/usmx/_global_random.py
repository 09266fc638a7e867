"""NumPy's oldest functions of random numbers, which share one generator: ``seed``, ``rand``.

They draw from `usmx.random.Generator`: numbers differ from NumPy's, and are
the same for the same seed.
"""

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

from ._usmx import ndarray
from .random import default_rng


def _plain(made: Any, size: Any) -> Any:
    """A number of Python where no size was asked for and one element came."""
    return made.item() if size is None and isinstance(made, ndarray) and made.ndim == 0 else made


class RandomState:
    """A generator with the methods of NumPy's oldest one.

    Parameters
    ----------
    seed : int, optional
        None takes one from the system.
    """

    def __init__(self, seed: Any = None) -> None:
        self.seed(seed)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name in ("spawn", "advance"):
            raise AttributeError(f"'RandomState' object has no attribute {name!r}")
        method = getattr(self._generator, name)

        def draw(*args: Any, **keywords: Any) -> Any:
            made = method(*args, **keywords)
            return made.item() if isinstance(made, ndarray) and made.ndim == 0 else made

        draw.__name__, draw.__doc__ = name, method.__doc__
        return draw

    def seed(self, seed: Any = None) -> None:
        """Begin again: the same seed gives the same numbers.

        Parameters
        ----------
        seed : int or sequence of int, optional
            None takes one from the system.
        """
        self._generator = default_rng(seed)

    def rand(self, *shape: int) -> Any:
        """Numbers from 0 to below 1, in a shape.

        Parameters
        ----------
        *shape : int
            Lengths; none for one number.

        Returns
        -------
        float or ndarray
        """
        return self.random_sample(shape or None)

    def randn(self, *shape: int) -> Any:
        """Numbers of the standard normal distribution, in a shape.

        Parameters
        ----------
        *shape : int
            Lengths; none for one number.

        Returns
        -------
        float or ndarray
        """
        return self.standard_normal(size=shape or None)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from `low` to below `high`, or from 0 to below `low`.

        Parameters
        ----------
        low, high : int or array of int
            The bounds.
        size : int or tuple of int, optional
            The shape.
        dtype : dtype, optional
            Any type of integers, or bool; int64 by default.

        Returns
        -------
        int or ndarray

        Raises
        ------
        ValueError
            There are no numbers between the bounds.
        """
        return _plain(self._generator.integers(low, high, size, dtype), size)

    def random_sample(self, size: Any = None) -> Any:
        """Numbers from 0 to below 1.

        Parameters
        ----------
        size : int or tuple of int, optional
            The shape; None for one number.

        Returns
        -------
        float or ndarray
        """
        return _plain(self._generator.random(size), size)

    random = ranf = sample = random_sample

    def shuffle(self, x: Any) -> None:
        """Shuffle an array along its first axis, or a list.

        Parameters
        ----------
        x : ndarray or list
            It is changed.
        """
        if isinstance(x, ndarray):
            self._generator.shuffle(x)
            return
        order = self._generator.permutation(len(x)).tolist()
        x[:] = [x[k] for k in order]


_state = RandomState()
#: Functions of the module `usmx.random` that are methods of the one generator.
NAMES = frozenset(
    {
        "beta", "binomial", "bytes", "chisquare", "choice", "dirichlet", "exponential", "f",
        "gamma", "geometric", "gumbel", "laplace", "logistic", "lognormal", "logseries",
        "multinomial", "multivariate_normal", "negative_binomial", "noncentral_chisquare",
        "normal", "pareto", "permutation", "poisson", "power", "rand", "randint", "randn",
        "random", "random_sample", "ranf", "rayleigh", "sample", "seed", "shuffle",
        "standard_cauchy", "standard_exponential", "standard_gamma", "standard_normal",
        "standard_t", "triangular", "uniform", "wald", "weibull", "zipf",
    }
)  # fmt: skip


def find(name: str) -> Any:
    """The function of that name; AttributeError for others."""
    if name == "RandomState":
        return RandomState
    if name in NAMES:
        return getattr(_state, name)
    raise AttributeError(f"module 'usmx.random' has no attribute {name!r}{_hint(name)}")


def _hint(name: str) -> str:
    """What helps for names that NumPy has."""
    import numpy as np

    found = getattr(np.random, name, None)
    if isinstance(found, type):  # one of NumPy's sources of bits
        return "; usmx.random.default_rng(seed) makes a generator"
    if not callable(found):
        return ""
    return f"; numpy.random.{name} gives an array of NumPy, and usmx.asarray takes it"
