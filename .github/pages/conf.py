"""How the web pages look, in Sphinx's words; build.py prepares what they show."""

import functools
import json
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes

ROOT = Path(__file__).resolve().parents[2]
KATEX = ROOT / "build/formulas/node_modules/katex"
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]
from make_pages import alt, pictures

from helpers.project.links import place

repository, branch = place()
project = "Transformers, one tensor at a time"
html_title = project
extensions = ["myst_nb", "sphinx_design"]
exclude_patterns = [".doctrees"]
nb_execution_mode = "off"
nb_code_prompt_show = "Show the {type}"
nb_code_prompt_hide = "Hide the {type}"
myst_enable_extensions = ["colon_fence", "dollarmath"]
html_theme = "sphinx_book_theme"
html_sidebars = {"**": ["search-button-field.html", "sbt-sidebar-nav.html"]}
html_use_index = False
html_static_path = ["static"]
html_css_files = ["katex/katex.min.css", "pages.css"]
html_math_renderer = "katex"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "repository_url": f"https://github.com/{repository}",
    "repository_branch": branch,
    "path_to_docs": "notebooks",
    "launch_buttons": {
        "notebook_interface": "jupyterlab",
        "colab_url": "https://colab.research.google.com",
        "binderhub_url": "https://mybinder.org",
    },
    "use_repository_button": True,
    "use_download_button": False,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "footer_content_items": [],
    "home_page_in_toc": True,
}


@functools.cache
def formula(tex, *options):
    """A formula as HTML, with its MathML for screen readers; one that is wrong stops the build."""
    command = ["node", KATEX / "cli.js", *options]
    run = subprocess.run(command, input=tex, check=True, capture_output=True, encoding="utf-8")
    return run.stdout.strip()


def inline_formula(writer, node):
    writer.body.append(formula(node.astext()))
    raise nodes.SkipNode


def formula_on_its_own(writer, node):
    writer.body.append(f'<div class="math">{formula(node.astext(), "--display-mode")}</div>')
    raise nodes.SkipNode


def describe(app, doctree):
    """Give each picture that a cell drew its alt text, which MyST-NB does not read."""
    if app.env.docname == "index":
        return
    notebook = json.loads(app.env.doc2path(app.env.docname).read_text(encoding="utf-8"))
    drawn = [node for node in doctree.findall(nodes.image) if "jupyter_execute" in node["uri"]]
    for image, picture in zip(drawn, pictures(notebook), strict=True):
        image["alt"] = alt(picture)


def correct(app, page, template, context, doctree):
    """Let what opens a folded cell be called as it reads, and the front page's title stand once."""
    label = ' aria-label="Toggle hidden content"'
    context["body"] = context.get("body", "").replace(label, "")
    if page == "index":
        context["docstitle"] = ""


def copy_katex(app, _):
    folder = Path(app.outdir) / "_static/katex"
    shutil.copytree(KATEX / "dist/fonts", folder / "fonts")
    shutil.copy(KATEX / "dist/katex.min.css", folder)
    shutil.copy(KATEX / "LICENSE", folder)


def setup(app):
    app.add_html_math_renderer("katex", (inline_formula, None), (formula_on_its_own, None))
    app.connect("doctree-read", describe)
    app.connect("html-page-context", correct)
    app.connect("build-finished", copy_katex)
