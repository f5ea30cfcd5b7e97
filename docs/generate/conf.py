"""The settings of Sphinx; `make docs` calls it on the pages that `python docs/generate` has written."""

import os

from rst_docstrings import as_lists

from repro import __version__

project = "repro"
author = "the repro maintainers"
copyright = "the repro maintainers, MIT licence"
release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]

# Anchors for links to headings, and no markup but that of the pages.
myst_heading_anchors = 4
smartquotes = False
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
suppress_warnings = ["mystnb.unknown_mime_type"]

nb_execution_mode = "off" if os.environ.get("DOCS_NOTEBOOKS") == "off" else "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
python_maximum_signature_line_length = 88
toc_object_entries = False

html_theme = "furo"
html_title = f"repro {__version__}"
html_static_path = ["../pictures"]
html_css_files = ["site.css"]
html_favicon = "../pictures/logo.svg"
exclude_patterns = ["extra"]
html_copy_source = False
html_show_sourcelink = False
# The fonts and scripts of the theme are part of it: pages load nothing from elsewhere.
html_theme_options = {"footer_icons": []}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def setup(app):
    app.connect("autodoc-process-docstring", as_lists)
