"""How Sphinx builds the site: `python -m sphinx -W -b html docs docs/_build/html`."""

import os
import shutil
import sys
from importlib.metadata import files
from pathlib import Path

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
sys.path[:0] = [str(ROOT), str(DOCS / "_ext")]

from mechdesign import __version__  # noqa: E402 - of this checkout

# Cells run this checkout and its command, in a width that fits a page and without the escape codes of a terminal.
os.environ |= {
    "CHECKOUT": str(ROOT),
    "COLUMNS": "78",
    "JUPYTER_PREFER_ENV_PATH": "1",
    "NO_COLOR": "1",
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    "PYTHONPATH": str(ROOT),
    "PYTHONSTARTUP": str(DOCS / "_ext" / "kernel_start.py"),
    "PYTHONUTF8": "1",
    "TERM": "dumb",
}

project = "mechdesign"
author = "The mechdesign developers"
copyright = author  # noqa: A001 - as Sphinx calls it
version = release = __version__

extensions = [
    "myst_nb",
    "public_names",
    "outside_links",
    "plain_text",
    "playground",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_click",
]
exclude_patterns = ["_build"]

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4  # links to headings are those of GitHub

# Cells run at each build, in a scratch folder for each page; what they raise ends the build, as does a failed command.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 600  # of one cell, on a machine that does other things too
nb_merge_streams = True
# What runs a program that is missing is shown without output.
nb_execution_excludepatterns = [] if shutil.which("node") else ["how-to/use-from-javascript.md"]

# A single file with every extension, which draws and needs no fonts.
(mathjax,) = (path.locate() for path in files("sphinx-mathjax-offline") or () if path.name == "tex-svg-full.js")
mathjax_path = mathjax.name

autoclass_content = "class"
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings have them
default_role = "py:obj"
smartquotes = False  # a prime is a prime
suppress_warnings = ["ref.python"]  # words in docstrings that several classes have as members
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "mechdesign"
html_static_path = ["_static", str(mathjax)]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
