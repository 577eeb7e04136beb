"""From facts to a page: templates that escape everything, and a policy that forbids a page to run or fetch anything.

A page names the file that it is about, with its digest.
"""

from __future__ import annotations

import base64
import hashlib
import math
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from mechdesign.display import numbers
from mechdesign.errors import LimitError, printable
from mechdesign.version import __version__

_LONGEST_NAME = 200
MOST_BYTES = 1_000_000
_LONGEST_LABEL = 240  # characters of a label that a page shows
_SHOWN = 12  # labels of a list within a sentence


@dataclass(frozen=True)
class Origin:
    """The file that a page is about.

    Attributes
    ----------
    name : str
        As commands take it.
    size : int
        Bytes.
    digest : str
        SHA-256 of the bytes, in hexadecimal.
    """

    name: str
    size: int
    digest: str

    @classmethod
    def of(cls, content: bytes, name: str = "mechanism.json") -> Origin:
        """Return the origin of the bytes of a file.

        Examples
        --------
        >>> Origin.of(b"{}").digest[:16]
        '44136fa355b3678a'
        """
        return cls(name, len(content), hashlib.sha256(content).hexdigest())

    @property
    def argument(self) -> str:
        """The name as a shell takes it; that of an example where it cannot be printed, or is standard input."""
        named = printable(self.name) == self.name and self.name not in {"", "-"} and len(self.name) <= _LONGEST_NAME
        return shlex.quote(("./" if self.name.startswith("-") else "") + self.name) if named else "mechanism.json"


def page(template: str, **facts: Any) -> str:
    """Return a page.

    Parameters
    ----------
    template : str
        The name of a file in ``templates``.
    **facts
        What the template calls by name. Texts are escaped.

    Raises
    ------
    LimitError
        If the page would be longer than a million bytes.
    """
    environment = _environment()
    style = environment.loader.get_source(environment, "page.css")[0] if environment.loader else ""
    style = style.replace("\r\n", "\n")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    written = Markup(style)  # noqa: S704 - a file of the package
    text = environment.get_template(template).render(**facts, version=__version__, style=written, style_digest=digest)
    size = len(text.encode())
    if size > MOST_BYTES:
        raise LimitError.too_much_work(
            f"the page would have {size} bytes; the most is {MOST_BYTES}; give shorter labels"
        )
    return text


@cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("mechdesign.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "label": label,
        "labels": labels,
        "view_name": view_name,
        "plain": plain,
        "up": numbers.up,
        "down": numbers.down,
        "near": numbers.near,
        "outward": numbers.outward,
        "percent": numbers.percent,
        "points": numbers.points,
        "one_in": numbers.one_in,
        "counted": numbers.counted,
    }
    environment.globals |= {"fact": fact, "infinity": math.inf}
    return environment


def plain(text: str, longest: int = _LONGEST_LABEL) -> str:
    r"""Return a text of a user without characters that a page would obey or hide, cut to a length.

    Examples
    --------
    >>> print(plain("abc\u202edef"), plain("a" * 9, 4))
    abc\u202edef aaa…
    """
    shown = printable(text[: longest + 1])
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def label(text: str) -> Markup:
    """Return the label of a user, isolated from the direction of the text around it.

    Examples
    --------
    >>> print(label("<b>"))
    <bdi class="label">&lt;b&gt;</bdi>
    """
    return Markup('<bdi class="label">{}</bdi>').format(plain(text))


def view_name(text: str) -> Markup:
    """Return the name of a view of records, which a line may break between its columns and not within them.

    Examples
    --------
    >>> print(view_name("sex+<b>"))
    <bdi class="label view">sex+<wbr>&lt;b&gt;</bdi>
    """
    return Markup('<bdi class="label view">{}</bdi>').format(Markup("+<wbr>").join(plain(text).split("+")))


def labels(texts: Iterable[str], most: int = _SHOWN) -> Markup:
    """Return labels as a list within a sentence, and how many there are besides those that are shown.

    Examples
    --------
    >>> print(labels("abc", most=2))
    <bdi class="label">a</bdi>, <bdi class="label">b</bdi> and 1 more
    """
    given = list(texts)
    shown = Markup(", ").join(label(text) for text in given[:most])
    left = len(given) - most
    return shown if left <= 0 else shown + f" and {left:,} more"


def fact(name: str, value: float | str, shown: object | None = None) -> Markup:
    """Return a number for people that holds its full value for programs.

    Examples
    --------
    >>> print(fact("leakage", 0.9999999999999999, "1"))
    <data data-fact="leakage" value="0.9999999999999999">1</data>
    """
    full = value if isinstance(value, str) else repr(value)
    return Markup('<data data-fact="{}" value="{}">{}</data>').format(name, full, full if shown is None else shown)
