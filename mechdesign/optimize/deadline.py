"""When a search stops: at a time, or on an interrupt (Ctrl-C) once there is a mechanism to keep."""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Real
from types import FrameType
from typing import TypeGuard

from mechdesign.errors import InputError, shorten
from mechdesign.numerics.arrays import float_of

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Deadline(float):
    """A time of `time.monotonic`, infinite for no limit, that an interrupt moves to now.

    A plain number serves wherever a deadline is taken, and knows of no interrupts.

    Parameters
    ----------
    at : float
        The time.

    Examples
    --------
    >>> deadline = Deadline(math.inf)
    >>> time_is_up(deadline)
    False
    >>> deadline.has_mechanism = True
    >>> with deadline.moved_by_interrupts():
    ...     signal.raise_signal(signal.SIGINT)
    >>> time_is_up(deadline), deadline.interrupted
    (True, True)
    """

    def __init__(self, at: float) -> None:  # noqa: ARG002 - which is the number itself
        self._whole = self
        self._interrupted, self._has_mechanism = False, False

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the time so many seconds from now; None is without limit."""
        return cls(math.inf if seconds is None else time.monotonic() + seconds)

    @property
    def interrupted(self) -> bool:
        """Whether an interrupt has moved it."""
        return self._whole._interrupted

    @property
    def has_mechanism(self) -> bool:
        """Whether the search has a mechanism that an interrupt would keep."""
        return self._whole._has_mechanism

    @has_mechanism.setter
    def has_mechanism(self, it_has: bool) -> None:
        self._whole._has_mechanism = it_has

    def at(self, moment: float) -> Deadline:
        """Return another time, which the same interrupts move."""
        other = Deadline(moment)
        other._whole = self._whole
        return other

    @contextmanager
    def moved_by_interrupts(self) -> Iterator[None]:
        """Let the first signal that would raise KeyboardInterrupt move the deadline, once there is a mechanism.

        Before, and from the second signal on, it raises as usual. Only the main thread gets signals, and handlers of
        the program stay.
        """

        def moved(_number: int, _frame: FrameType | None) -> None:
            if self.interrupted or not self.has_mechanism:
                raise KeyboardInterrupt
            self._whole._interrupted = True

        is_main = threading.current_thread() is threading.main_thread()
        found = [getattr(signal, name) for name in _SIGNALS if is_main and hasattr(signal, name)]
        taken = [number for number in found if signal.getsignal(number) is signal.default_int_handler]
        for number in taken:
            signal.signal(number, moved)
        try:
            yield
        finally:
            for number in taken:
                signal.signal(number, signal.default_int_handler)


def deadline_of(time_limit: object) -> Deadline:
    """Return when to stop, from seconds; None is without limit.

    Raises
    ------
    InputError
        For anything but a number that is 0 or more.
    """
    if time_limit is None:
        return Deadline.after(None)
    if isinstance(time_limit, bool) or not isinstance(time_limit, Real) or not float_of(time_limit) >= 0:
        raise InputError.out_of_range(f"time_limit is {shorten(time_limit)}; accepted: seconds, 0 or more")
    return Deadline.after(float_of(time_limit))


def time_is_up(deadline: float | None) -> bool:
    """Return whether it is a time of `time.monotonic` or later; a deadline that is None never comes.

    Examples
    --------
    >>> time_is_up(None), time_is_up(time.monotonic())
    (False, True)
    """
    if deadline is None:
        return False
    return time.monotonic() >= deadline or (isinstance(deadline, Deadline) and deadline.interrupted)


def is_limited(deadline: float | None) -> TypeGuard[float]:
    """Return whether a deadline comes at all, or an interrupt has come.

    Examples
    --------
    >>> is_limited(None), is_limited(math.inf), is_limited(0.0)
    (False, False, True)
    """
    return deadline is not None and (not math.isinf(deadline) or time_is_up(deadline))


def seconds_left(deadline: float) -> float:
    """Return how long it is until a deadline, 0 once it has come."""
    return 0.0 if time_is_up(deadline) else deadline - time.monotonic()


def keeps_mechanism(deadline: float | None) -> None:
    """Say that there is a mechanism now, which an interrupt keeps."""
    if isinstance(deadline, Deadline):
        deadline.has_mechanism = True


def sooner(deadline: float | None, seconds: float) -> float | None:
    """Return a time so many seconds before a deadline.

    Examples
    --------
    >>> sooner(10.0, 2.5), sooner(None, 1.0)
    (7.5, None)
    """
    if deadline is None:
        return None
    return deadline.at(deadline - seconds) if isinstance(deadline, Deadline) else deadline - seconds


def share_until(deadline: float | None, share: float) -> float | None:
    """Return the time at which a share of what is left until a deadline is used up."""
    if deadline is None or math.isinf(deadline):
        return deadline
    return sooner(deadline, (1 - share) * (deadline - time.monotonic()))


def with_time_for(deadline: float | None, seconds: float) -> float | None:
    """Return a deadline that leaves so many seconds from now, if the given one comes before.

    Examples
    --------
    >>> with_time_for(None, 1.0) is None, with_time_for(0.0, 1.0) > time.monotonic()
    (True, True)
    """
    if deadline is None:
        return None
    least = time.monotonic() + seconds
    return least if time_is_up(deadline) or deadline < least else deadline
