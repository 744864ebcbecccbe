"""The lessons in a real browser: Run All in JupyterLab, and the web pages without a network.

These tests need Chromium with its driver, selenium, axe-core (its script's path in AXE), npm, and
a Python with what makes the web pages (its path in PAGES, or else in .venv/pages). `.ci/run`
installs and names them, and sets BROWSER_TESTS=required, so that nothing is skipped there;
elsewhere they are skipped with the name of what is missing.
"""

import base64
import importlib.util
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from lessons import NOTEBOOKS, ROOT, cells, load, pictures, source
from PIL import Image

from helpers.project import links

BROWSERS = ("chromium", "google-chrome", "chromium-browser", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")
AXE = Path(os.environ.get("AXE", "no-such-file"))
PAGES = Path(os.environ.get("PAGES", ROOT / ".venv/pages/bin/python"))
MISSING = [
    name
    for name, found in {
        "Chromium": BROWSER,
        "chromedriver": DRIVER,
        "the package selenium": importlib.util.find_spec("selenium"),
        "axe-core (AXE names no file)": AXE.is_file(),
        "npm": shutil.which("npm"),
        "what makes the web pages (PAGES names no Python)": PAGES.is_file(),
    }.items()
    if not found
]
REQUIRED = os.environ.get("BROWSER_TESTS") == "required"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(bool(MISSING) and not REQUIRED, reason=f"missing: {', '.join(MISSING)}"),
]
each_lesson = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
SECONDS = 60
ALL_CELLS_AT_ONCE = {"windowingMode": "none"}  # or JupyterLab keeps only those in view


@pytest.fixture(scope="module")
def driver():
    assert not MISSING, f"missing: {', '.join(MISSING)}"
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.add_argument("--window-size=1200,1600")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1")
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield browser
    browser.quit()


def wait_for(what, condition, seconds=SECONDS):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"{what}: not within {seconds} s"
        time.sleep(0.3)
    return found


# ------------------------------------------------------------------ JupyterLab
@pytest.fixture(scope="module")
def jupyterlab(tmp_path_factory):
    """The address of a JupyterLab that serves a copy of the lessons."""
    home = tmp_path_factory.mktemp("lab")
    for folder in ("helpers", "notebooks"):
        shutil.copytree(ROOT / folder, home / folder)
    settings = home / "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps(ALL_CELLS_AT_ONCE), encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "notebooks", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--port-retries=0", "--IdentityProvider.token="]
    environment = {**os.environ, "JUPYTERLAB_SETTINGS_DIR": str(home / "settings")}
    environment.pop("JUPYTER_PATH", None)  # a kernel as a learner starts it
    log = (home / "log").open("w")
    lab = subprocess.Popen(command, cwd=home, env=environment, stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"

    def answers():
        assert lab.poll() is None, (home / "log").read_text()
        try:
            return urllib.request.urlopen(f"{address}/api").status == 200
        except OSError:
            return False

    try:
        wait_for("JupyterLab", answers)
        yield address
    finally:
        lab.terminate()
        lab.wait(SECONDS)
        log.close()


IN_JUPYTERLAB = """
const outputs = [...document.querySelectorAll('.jp-OutputArea-output')];
return {
  prompts: [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(e => e.textContent),
  idle: !!document.querySelector('.jp-Notebook-ExecutionIndicator[data-status="idle"]'),
  bad: outputs.filter(e => /error|stderr/.test(e.dataset.mimeType)).map(e => e.textContent),
  figures: outputs.filter(e => e.querySelector('img')).map(e => ({
    alt: e.querySelector('img').alt,
    below: e.closest('.jp-OutputArea-child').nextElementSibling?.innerText ?? '' })),
  last: outputs.at(-1)?.innerText ?? '',
};
"""


def click(driver, text):
    """Click a menu entry, once it is there."""
    script = """
    const found = [...document.querySelectorAll('.lm-MenuBar-itemLabel, .lm-Menu-itemLabel')]
        .find(e => e.innerText === arguments[0] && e.offsetParent);
    return found;
    """
    wait_for(f"menu entry {text}", lambda: driver.execute_script(script, text)).click()


def words(text):
    return " ".join(text.split())


def has_run(page, count):
    """True at an error, or when every cell shows its number; a hidden input shows none."""
    if page["bad"]:
        return True
    numbers = [f"[{number}]:" for number in range(1, count + 1)]
    prompts = zip((prompt.strip() for prompt in page["prompts"]), numbers, strict=True)
    return page["idle"] and page["last"] and all(prompt in ("", n) for prompt, n in prompts)


@each_lesson
def test_run_all_in_jupyterlab(path, jupyterlab, driver):
    driver.get(f"{jupyterlab}/lab/tree/{path.name}?reset")
    count = len(cells(load(path), "code"))
    wait_for("the notebook", lambda: len(driver.execute_script(IN_JUPYTERLAB)["prompts"]) == count)
    wait_for("the kernel", lambda: driver.execute_script(IN_JUPYTERLAB)["idle"])
    click(driver, "Edit")
    click(driver, "Clear Outputs of All Cells")
    click(driver, "Run")
    click(driver, "Run All Cells")
    wait_for("the last cell", lambda: has_run(driver.execute_script(IN_JUPYTERLAB), count))
    page = driver.execute_script(IN_JUPYTERLAB)
    assert page["bad"] == []
    assert re.match(r"○+ 0 of \d+ done; next: ", page["last"])
    alts = [output["metadata"]["image/png"]["alt"] for _, output in pictures(load(path))]
    assert len(page["figures"]) == len(alts)
    for figure, alt in zip(page["figures"], alts, strict=True):
        below = words(figure["below"]).startswith(words(f"Figure: {alt}"))
        assert figure["alt"] == alt or below, f"not in the page: {alt}"


# ------------------------------------------------------------------ web pages
@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A copy of the project with its web pages. In each lesson of it, the last cell's output is
    folded, and the title cell links to the lesson after it (the last one to the first)."""
    home = tmp_path_factory.mktemp("pages")
    for folder in (".github", "helpers", "notebooks"):
        shutil.copytree(ROOT / folder, home / folder)
    shutil.copy(ROOT / "README.md", home)
    for path, after in zip(NOTEBOOKS, [*NOTEBOOKS[1:], NOTEBOOKS[0]], strict=True):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        cells(notebook, "code")[-1]["metadata"] = {"jupyter": {"outputs_hidden": True}}
        notebook["cells"][0]["source"] += [f"\n\nGo on to [another lesson]({after.name})."]
        (home / "notebooks" / path.name).write_text(json.dumps(notebook), encoding="utf-8")
    build = [PAGES, ".github/pages/make_pages.py"]
    run = subprocess.run(build, cwd=home, capture_output=True, text=True, encoding="utf-8")
    assert run.returncode == 0, run.stderr
    return home


@pytest.fixture
def visit(home, driver):
    """Opens a page on a screen of a given width, in light or dark, or as for a printer."""

    def visit(name, width=WIDE, scheme="light", motion="reduce", media="screen"):
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width == PHONE}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        wishes = {"prefers-color-scheme": scheme, "prefers-reduced-motion": motion}
        features = [{"name": name, "value": value} for name, value in wishes.items()]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
        driver.get((home / f"build/html/{name}.html").as_uri())
        assert driver.execute_script("return document.documentElement.dataset.theme") == scheme

    yield visit
    driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def as_copied(home, path):
    return load(home / "notebooks" / path.name)


def every(driver, selector, expression):
    """The values of a JavaScript expression in `e`, each element that the selector finds."""
    script = f"return [...document.querySelectorAll(arguments[0])].map(e => {expression})"
    return driver.execute_script(script, selector)


def as_read(markdown):
    """Markdown without its signs and the addresses of its links."""
    return re.sub(r"[*`]", "", re.sub(r"\[([^]]+)\]\([^)]+\)", r"\1", markdown))


def open_all(driver):
    every(driver, "details", "e.open = true")


WIDE, PHONE = 1200, 390  # pixels
ALL_PAGES = ["index", "search", *(path.stem for path in NOTEBOOKS)]
each_page = pytest.mark.parametrize("name", ALL_PAGES)


@each_page
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_nothing_stands_in_a_screen_readers_way(name, scheme, width, visit, driver):
    """With all that is folded opened, and nothing left out."""
    visit(name, width, scheme)
    open_all(driver)
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    driver.set_script_timeout(SECONDS)
    found = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run().then(result => done(result.violations), error => done(String(error)))"
    )
    assert isinstance(found, list), found
    assert [
        f"{rule['id']}: {node['html'][:90]} {node['target']}"
        for rule in found
        for node in rule["nodes"]
    ] == []


@each_page
def test_a_phone_shows_a_page_at_its_width(name, visit, driver):
    visit(name, PHONE)
    open_all(driver)
    assert driver.execute_script("return document.documentElement.scrollWidth") <= PHONE
    cut = every(driver, "article p", "e.scrollWidth > e.clientWidth && e.textContent")
    assert list(filter(None, cut)) == []
    rooms = "[e.offsetWidth, e.closest('.cell_output').clientWidth]"
    assert all(drawn == room for drawn, room in every(driver, ".cell_output img", rooms))
    assert all(width >= 100 for width in every(driver, "td", "e.offsetWidth"))
    edges = every(driver, "article table", "e.getBoundingClientRect().right")
    assert edges[:1] <= [PHONE], "the table under the title is wider than a phone"


@each_page
def test_a_page_asks_no_other_site_for_anything(name, visit, driver):
    visit(name)
    parts = "[src], link[rel=stylesheet], link[rel=preload], link[rel=icon]"
    addresses = every(driver, parts, "e.src || e.href")
    assert addresses
    assert [address for address in addresses if not address.startswith("file:")] == []


@each_page
def test_nothing_moves_for_those_who_want_it_still(name, visit, driver):
    moves = "[getComputedStyle(e).transitionDuration, getComputedStyle(e).animationName]"
    visit(name, motion="no-preference")
    assert set(map(tuple, every(driver, "*", moves))) != {("0s", "none")}
    visit(name, motion="reduce")
    assert set(map(tuple, every(driver, "*", moves))) == {("0s", "none")}


def test_each_page_has_a_title_and_a_description_of_its_own(visit, driver):
    told = []
    for name in ("index", *(path.stem for path in NOTEBOOKS)):
        visit(name)
        (description,) = every(driver, "meta[name=description]", "e.content")
        told += [driver.title, description]
        (heading,) = every(driver, "article h1", "e.firstChild.textContent")
        assert driver.title.startswith(heading)
        assert len(description) > 60
        assert "](" not in description
    assert len(set(told)) == len(told)


def wide(output):
    picture = Image.open(io.BytesIO(base64.b64decode("".join(output["data"]["image/png"]))))
    return picture.width > picture.height


def test_the_front_page_shows_every_lesson(home, visit, driver):
    visit("index")
    card = """({
        page: e.querySelector('a').getAttribute('href'), link: e.querySelector('a').innerText,
        title: e.querySelector('.sd-card-title').innerText, text: e.innerText,
        alts: [...e.querySelectorAll('img')].map(i => i.naturalWidth && i.alt) })"""
    shown = every(driver, ".sd-card", card)
    for card, path in zip(shown, NOTEBOOKS, strict=True):
        told = as_read(source(load(path)["cells"][0]))
        promised = [e.strip() for e in re.split(r"[|\n]", told) if re.search(r"\d minutes", e)]
        assert promised
        assert all(entry in card["text"] for entry in promised)
        assert card["page"] == f"{path.stem}.html"
        assert card["link"] == card["title"] == told.splitlines()[0].removeprefix("# ")
        drawn = [output for _, output in pictures(load(path)) if wide(output)]
        assert card["alts"] == [drawn[0]["metadata"]["image/png"]["alt"]]
    (opening,) = every(driver, "h1 + p", "e.innerText")
    assert opening.count(".") == 2
    assert opening in words(as_read((ROOT / "README.md").read_text(encoding="utf-8")))


@each_lesson
def test_every_picture_is_described_and_says_so_below(path, home, visit, driver):
    visit(path.stem)
    stored = [output["metadata"]["image/png"]["alt"] for _, output in pictures(load(path))]
    assert every(driver, "article img", "e.alt") == stored
    assert all(width > 0 for width in every(driver, "article img", "e.naturalWidth"))
    assert every(driver, ".caption", "e.textContent") == [f"Figure: {words(alt)}" for alt in stored]


@each_lesson
def test_what_is_folded_in_the_notebook_is_folded_on_the_page(path, home, visit, driver):
    visit(path.stem)
    shown = "['input', 'output'].map(p => e.querySelector(`.cell_${p}`)?.checkVisibility() ?? null)"
    wanted = []
    for cell in cells(as_copied(home, path), "code"):
        folded = cell["metadata"].get("jupyter", {})
        output = not folded.get("outputs_hidden") if cell["outputs"] else None
        wanted.append([not folded.get("source_hidden"), output])
    assert every(driver, ".cell", shown) == wanted
    assert [False, True] in wanted
    assert [True, False] in wanted
    open_all(driver)
    assert all(shown is not False for cell in every(driver, ".cell", shown) for shown in cell)


@each_lesson
def test_hints_look_closed_and_open_by_a_key(path, home, visit, driver):
    from selenium.webdriver.common.keys import Keys

    visit(path.stem)
    notebook = as_copied(home, path)
    hints = sum(source(cell).count("<details>") for cell in cells(notebook, "markdown"))
    folds = sum(len(cell["metadata"].get("jupyter", ())) for cell in cells(notebook, "code"))
    looks = "[e.open, getComputedStyle(e.querySelector('summary')).listStyleType]"
    for kind, count in {"details:not(.hide)": hints, "details.hide": folds}.items():
        assert every(driver, kind, looks) == [[False, "disclosure-closed"]] * count
        every(driver, f"{kind} > summary", "e.focus()")  # the last one keeps it
        driver.switch_to.active_element.send_keys(Keys.ENTER)
        assert every(driver, kind, "e.open") == [False] * (count - 1) + [True]


@each_lesson
def test_formulas_are_set_without_a_network(path, visit, driver):
    visit(path.stem)
    texts = "\n".join(map(source, cells(load(path), "markdown")))
    texts = re.sub(r"```.*?```|`[^`\n]*`", "", texts, flags=re.DOTALL)
    formulas = re.findall(r"\$\$.+?\$\$|\$[^$\n]+\$", texts, re.DOTALL)
    tex = every(driver, ".katex annotation", "e.textContent")
    assert tex == [formula.strip("$") for formula in formulas]
    fonts = "return document.fonts.ready.then(all => [...all].map(f => [f.family, f.status]))"
    fonts = [status for family, status in driver.execute_script(fonts) if "KaTeX" in family]
    assert "error" not in fonts
    assert "loaded" in fonts


@each_lesson
def test_a_lesson_leads_to_another_and_to_where_it_runs(path, visit, driver):
    visit(path.stem)
    colab, place = links.badge_url(path.name), "/".join(links.place())
    binder = f"https://mybinder.org/v2/gh/{place}?urlpath=lab/tree/notebooks/{path.name}"
    assert every(driver, ".dropdown-launch-buttons a", "e.href") == [binder, colab]
    assert colab in every(driver, "article h1 + p > a", "e.href")
    driver.find_element("link text", "another lesson").click()
    after = [*NOTEBOOKS, NOTEBOOKS[0]][NOTEBOOKS.index(path) + 1]
    assert driver.current_url.endswith(f"/{after.stem}.html")
    assert driver.title.startswith(source(load(after)["cells"][0]).splitlines()[0][2:])


@each_lesson
def test_tables_stand_left(path, visit, driver):
    visit(path.stem)
    left = "Math.round(e.getBoundingClientRect().left)"
    (edge,) = every(driver, "article h1", left)
    tables = every(driver, "article table", left)
    assert tables
    assert set(tables) == {edge}
    assert set(every(driver, "th, td", "getComputedStyle(e).textAlign")) <= {"left", "start"}


@each_lesson
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_paper_shows_every_line_whole_and_in_ink(path, scheme, visit, driver):
    visit(path.stem, 700, scheme, media="print")
    open_all(driver)
    cut = every(driver, "pre", "e.scrollWidth > e.clientWidth && e.textContent")
    assert cut
    assert list(filter(None, cut)) == []
    for color in every(driver, "article p", "getComputedStyle(e).color"):
        assert max(map(int, re.findall(r"\d+", color)[:3])) < 128


def test_the_search_finds_a_lesson(visit, driver):
    visit("search")
    driver.get(f"{driver.current_url}?q=dropout")
    found = wait_for("results", lambda: every(driver, "#search-results li a", "e.innerText"))
    assert any(title.startswith("Lesson 2") for title in found)


# ------------------------------------------------------------------ pages of one file each
def test_nbconvert_describes_every_picture_too(tmp_path, driver):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (arguments,) = re.findall(r"\.venv/bin/jupyter (nbconvert --to html .*)$", readme, re.M)
    arguments = re.sub("build/[a-z]+", str(tmp_path), arguments).replace("notebooks/*.ipynb", "")
    command = [sys.executable, "-m", *arguments.split(), *map(str, NOTEBOOKS)]
    subprocess.run(command, check=True, capture_output=True)
    for path in NOTEBOOKS:
        driver.get((tmp_path / f"{path.stem}.html").as_uri())
        stored = [output["metadata"]["image/png"]["alt"] for _, output in pictures(load(path))]
        alts = every(driver, "img", "e.alt")
        assert [words(alt) for alt in alts if "Colab" not in alt] == [words(alt) for alt in stored]
