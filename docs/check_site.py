"""Check a site that was built: `python docs/check_site.py docs/_build/html`.

Every link within the site leads to a file, and to an anchor where it names one; pages load nothing from elsewhere;
search has its index, with the public names in it. Links to other sites are listed, not followed.
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, where its links lead, and what it loads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links, self.loads = set(), set(), set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        """Note an element."""
        given = {key: value for key, value in attrs if value}
        self.anchors |= {given[key] for key in ("id", "name") if key in given}
        loads = tag in ("link", "script", "img", "iframe", "source") and given.get("rel") != "canonical"
        for key in ("href", "src"):
            if key in given:
                (self.loads if loads else self.links).add(given[key])


def faults(site):
    """Return what is wrong with a site, and its links to other sites."""
    pages = {path: Page(path) for path in sorted(site.rglob("*.html")) if "_static" not in path.parts}
    wrong, outside = [], set()
    for path, page in pages.items():
        name = path.relative_to(site)
        for link in sorted(page.links | page.loads):
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                outside.add(link)
                wrong += [f"{name} loads {link}"] if link in page.loads else []
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                wrong.append(f"{name}: {link} is missing")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                wrong.append(f"{name}: {link} has no such anchor")
    return wrong + search_faults(site), sorted(outside), len(pages)


def search_faults(site):
    """Return what the index of the search lacks."""
    index = site / "searchindex.js"
    text = index.read_text(encoding="utf-8") if index.is_file() else ""
    return [f"the search does not know {word}" for word in ("L1Ball", "privat", "leakag") if word not in text]


def main(folder):
    """Print what was found, and end with status 1 where something is wrong."""
    wrong, outside, count = faults(Path(folder).resolve())
    print(f"{count} pages; links to other sites, not followed: {' '.join(outside) or 'none'}")
    for line in wrong:
        print(line)
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main(*sys.argv[1:])
