"""What a release says of its repository, whose address is given when the release is built: see CONTRIBUTING.md."""

import os
import re
from pathlib import Path
from urllib.parse import urljoin

from hatchling.metadata.plugin.interface import MetadataHookInterface

# The page of a file at a tag, the file itself, and reports of faults, below the address of a repository.
FORGES = {
    "forgejo": ("src/tag/{tag}/", "raw/tag/{tag}/", "issues"),  # and Gitea
    "github": ("blob/{tag}/", "raw/{tag}/", "issues"),
    "gitlab": ("-/blob/{tag}/", "-/raw/{tag}/", "-/issues"),
}
ADDRESS = re.compile(  # in which no name is . or .., which stand for other pages
    r"https://[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/(?!\.\.?(/|\Z))[\w.~-]+)+(?<!\.git)", re.ASCII | re.IGNORECASE
)
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?![a-z]+:|#)([^)\s]+)\)")  # a link, or an image


class Release(MetadataHookInterface):
    """Writes ``readme`` and ``urls``, which need the address."""

    def update(self, metadata):
        """Add both fields to the table ``[project]``."""
        if "readme" in metadata:  # An sdist without an address stays one.
            metadata["urls"] = {}
            return
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        forge = addresses(os.environ, "v" + metadata["version"])
        text = RELATIVE.sub(lambda found: rewritten(*found.groups(), forge), text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = forge and {
            "Source": forge["source"],
            "Documentation": forge["page"] + "docs/index.md",
            "Changelog": forge["page"] + "CHANGELOG.md",
            "Issues": forge["issues"],
        }


def addresses(environment, tag):
    """Return where the forge has what, or nothing without an address; end the build where that cannot be."""
    source = environment.get("MECHDESIGN_REPOSITORY")
    name = environment.get("MECHDESIGN_FORGE", "github")
    if name not in FORGES:
        raise SystemExit(f"MECHDESIGN_FORGE is {name!r}; accepted: {', '.join(FORGES)}")
    if source is None:
        return {}
    if not ADDRESS.fullmatch(source):
        raise SystemExit(
            f"MECHDESIGN_REPOSITORY is {source!r}; accepted: the page of the repository, https://HOST/OWNER/NAME, "
            "without a slash or .git at its end"
        )
    page, raw, issues = (f"{source}/{shape.format(tag=tag)}" for shape in FORGES[name])
    return {"source": source, "page": page, "raw": raw, "issues": issues}


def rewritten(image, text, target, forge):
    """Return a relative link or image as it is shown away from the repository."""
    if not forge:
        return "" if image else text
    return f"{image}[{text}]({urljoin(forge['raw' if image else 'page'], target)})"
