"""A page as a reader finds it: its elements, its texts, and the numbers that programs read."""

import hashlib
import re
from base64 import b64encode
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import pairwise

ALLOWED = frozenset(
    re.findall(
        r"\w+",
        "html head meta title style body header nav main section footer h1 h2 h3 p ul li a div dl dt dd table caption "
        "thead tbody tfoot tr th td span strong code pre bdi data figure figcaption details summary svg desc path rect "
        "text wbr",
    )
)
VOID = {"meta", "path", "rect", "wbr"}  # the only elements of pages without an end (as pages write them)


@dataclass
class Element:
    name: str
    attributes: dict
    parents: tuple
    text: str = ""
    children: list = field(default_factory=list)

    def inside(self, name):
        """The elements of a name within this one."""
        found = [child for child in self.children if child.name == name]
        return found + [inner for child in self.children for inner in child.inside(name)]


class Page(HTMLParser):
    """A parsed page; an element that is not closed in order is an error."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.open = [], []
        self.root = Element("root", {}, ())
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, name, attributes):
        assert len(dict(attributes)) == len(attributes), (name, attributes)
        parent = self.open[-1] if self.open else self.root
        element = Element(name, dict(attributes), tuple(e.name for e in self.open))
        parent.children.append(element)
        self.elements.append(element)
        if name not in VOID:
            self.open.append(element)

    def handle_startendtag(self, name, attributes):
        assert name in VOID
        self.handle_starttag(name, attributes)

    def handle_endtag(self, name):
        assert self.open.pop().name == name

    def handle_data(self, data):
        for element in self.open:
            element.text += data

    def all(self, *names):
        return [element for element in self.elements if element.name in names]

    def by_id(self, name):
        (found,) = [element for element in self.elements if element.attributes.get("id") == name]
        return found

    def section(self, name):
        """The text of a section, on one line."""
        (found,) = [e for e in self.all("section") if e.attributes["aria-labelledby"] == name]
        return " ".join(found.text.split())

    @property
    def facts(self):
        """The full values of the numbers, by their names; every name has one value unless it stands in a table."""
        found = {}
        for element in self.all("data"):
            found.setdefault(element.attributes["data-fact"], []).append(element.attributes["value"])
        return {name: values[0] if len(set(values)) == 1 else values for name, values in found.items()}

    def table(self, region):
        """The rows of a table as texts, its head first."""
        (found,) = [e for e in self.all("div") if e.attributes.get("aria-label") == region]
        rows = found.inside("tr")
        return [[" ".join(c.text.split()) for c in row.children if c.name in {"th", "td"}] for row in rows]


def well_made(text):
    """Check what is so on every page: structure, text alternatives, and that nothing is run or fetched."""
    page = Page(text)
    assert text.startswith('<!DOCTYPE html>\n<html lang="en">')
    assert len(text.encode()) < 1_000_000
    levels = [int(e.name[1]) for e in page.all("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    ids = [e.attributes["id"] for e in page.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))
    for table in page.all("table"):
        assert len(table.inside("caption")) == 1
        heads = table.inside("th")
        assert all(th.attributes.get("scope") in {"row", "col"} for th in heads)
        assert all(row.inside("th") for row in table.inside("tr"))
        assert len({len(row.inside("th") + row.inside("td")) for row in table.inside("tr")}) == 1
    for picture in page.all("svg"):
        if picture.attributes.get("aria-hidden") != "true":
            names = picture.attributes["aria-labelledby"].split()
            assert all(page.by_id(name).text.strip() for name in names)
            assert picture.attributes["role"] == "img"
    regions = [e.attributes["aria-label"] for e in page.elements if e.attributes.get("role") == "region"]
    assert len(regions) == len(set(regions))
    assert {e.name for e in page.elements} <= ALLOWED
    for element in page.elements:
        for name, value in element.attributes.items():
            assert not name.startswith("on")
            assert name not in {"src", "srcset", "style", "action", "data", "poster", "background", "xlink:href"}
            if name == "href":
                assert page.by_id(value.removeprefix("#"))
                assert element.name == "a"
    (style,) = page.all("style")
    assert "url(" not in style.text
    assert "@import" not in style.text
    (policy,) = [e for e in page.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"]
    digest = b64encode(hashlib.sha256(style.text.encode()).digest()).decode()
    assert policy.attributes["content"].startswith(f"default-src 'none'; style-src 'sha256-{digest}'")
    assert page.elements.index(policy) < page.elements.index(style)
    return page
