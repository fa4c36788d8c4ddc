"""What an estimator is after a method of its own was stopped: what it was before."""

import functools


def all_or_nothing(method):
    """Let a method that changes its object change all of it, or nothing.

    Where an error, a KeyboardInterrupt or anything else leaves the method, the object gets back the
    attributes it had before, so that a failed `fit` is no mixture of two. Attributes are put back,
    and not what is in them: the method has to assign new objects rather than change old ones. What
    is the caller's stays as it is then: a RandomState that was drawn from has moved on.
    """

    @functools.wraps(method)
    def unless_stopped(self, *args, **kwargs):
        before = vars(self).copy()
        try:
            return method(self, *args, **kwargs)
        except BaseException:
            # One assignment, which a second interrupt cannot cut in two.
            self.__dict__ = before
            raise

    return unless_stopped
