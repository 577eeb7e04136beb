"""Private reports for pipelines of scikit-learn (``pip install "mechdesign[sklearn]"``).

The class is loaded when it is asked for, so that the package can be read where scikit-learn is not installed.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mechdesign.sklearn.private_reports import PrivateReports

__all__ = ["PrivateReports"]

if not TYPE_CHECKING:  # to type checkers, a module with `__getattr__` has every name

    def __getattr__(name: str) -> Any:
        if name == "PrivateReports":
            from mechdesign.sklearn.private_reports import PrivateReports

            return PrivateReports
        raise AttributeError(f"module 'mechdesign.sklearn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
