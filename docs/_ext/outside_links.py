"""Links from a page to what lies in the checkout outside docs/.

On a page of the checkout they lead to the file. The site has a copy of the file to download; a folder is named only.
"""

import re
from pathlib import Path

LINK = re.compile(r"\[(?P<text>[^\]]*)\]\((?P<place>\.\./[^)\s#]*)(?P<anchor>#[^)\s]*)?\)")


def rewrite(app, name, content):
    """Replace links that leave the folder of the site, in a page that is read."""
    source = Path(app.srcdir).resolve()
    page = Path(app.env.doc2path(name)).resolve()

    def leading(found):
        target = (page.parent / found["place"]).resolve()
        if target.is_relative_to(source):
            return found[0]
        return found["text"] if target.is_dir() else f"[{found['text']}](path:{found['place']})"

    if page.suffix == ".md":
        content[0] = LINK.sub(leading, content[0])


def setup(app):
    """Register the extension."""
    app.connect("source-read", rewrite)
    return {"parallel_read_safe": True}
