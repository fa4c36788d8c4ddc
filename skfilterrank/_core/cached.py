"""A property that is computed once, without a lock."""

from collections.abc import Callable
from functools import cached_property as _locking
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    cached_property = _locking
else:

    class cached_property:
        """A `functools.cached_property` without the lock that it has in Python 3.11.

        A process that is forked while another thread holds that lock waits for it for ever.

        Parameters
        ----------
        function : callable
            The getter.
        """

        def __init__(self, function: Callable):
            self.func, self.__doc__ = function, function.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            found = instance.__dict__[self._name] = self.func(instance)
            return found
