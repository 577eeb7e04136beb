"""Pages for people: what a mechanism or a released histogram promises, in one HTML file that fetches nothing."""

from mechdesign.report.histogram_report import record_page
from mechdesign.report.mechanism_report import mechanism_page
from mechdesign.report.rendering import Origin

__all__ = ["Origin", "mechanism_page", "record_page"]


def __dir__() -> list[str]:
    return __all__
