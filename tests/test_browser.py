"""The lessons in a real browser: Run All in JupyterLab, and what screen readers get.

These tests need Chromium with its driver, selenium, and axe-core (its script's path in AXE).
`.ci/run` installs and names them, and sets BROWSER_TESTS=required, so that nothing is skipped
there; elsewhere they are skipped with the name of what is missing.
"""

import importlib.util
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
from lessons import NOTEBOOKS, ROOT, cells, load, pictures

BROWSERS = ("chromium", "google-chrome", "chromium-browser", "chrome")
BROWSER = next(filter(None, map(shutil.which, BROWSERS)), None)
DRIVER = shutil.which("chromedriver")
AXE = Path(os.environ.get("AXE", "no-such-file"))
MISSING = [
    name
    for name, found in {
        "Chromium": BROWSER,
        "chromedriver": DRIVER,
        "the package selenium": importlib.util.find_spec("selenium"),
        "axe-core (AXE names no file)": AXE.is_file(),
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


PAGE = """
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
    wait_for("the notebook", lambda: len(driver.execute_script(PAGE)["prompts"]) == count)
    wait_for("the kernel", lambda: driver.execute_script(PAGE)["idle"])
    click(driver, "Edit")
    click(driver, "Clear Outputs of All Cells")
    click(driver, "Run")
    click(driver, "Run All Cells")
    wait_for("the last cell", lambda: has_run(driver.execute_script(PAGE), count))
    page = driver.execute_script(PAGE)
    assert page["bad"] == []
    assert re.match(r"○+ 0 of \d+ done; next: ", page["last"])
    alts = [output["metadata"]["image/png"]["alt"] for _, output in pictures(load(path))]
    assert len(page["figures"]) == len(alts)
    for figure, alt in zip(page["figures"], alts, strict=True):
        below = words(figure["below"]).startswith(words(f"Figure: {alt}"))
        assert figure["alt"] == alt or below, f"not in the page: {alt}"


# ------------------------------------------------------------------ accessibility
@pytest.fixture(scope="module")
def export(tmp_path_factory):
    """The lessons as web pages, by the README's command."""
    folder = tmp_path_factory.mktemp("html")
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (arguments,) = re.findall(r"\.venv/bin/jupyter (nbconvert --to html .*)$", readme, re.M)
    arguments = arguments.replace("build/html", str(folder)).replace("notebooks/*.ipynb", "")
    subprocess.run(
        [sys.executable, "-m", *arguments.split(), *map(str, NOTEBOOKS)],
        check=True,
        capture_output=True,
    )
    return folder


def violations(driver, page):
    """What axe-core finds on a page: a line for each element."""
    driver.get(page)
    driver.execute_script(AXE.read_text(encoding="utf-8"))
    driver.set_script_timeout(SECONDS)
    found = driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "const content = {exclude: ['.highlight']};"  # the template chooses the colors of code
        "axe.run(content).then(result => done(result.violations), error => done(String(error)))"
    )
    assert isinstance(found, list), found
    return [
        f"{rule['id']}: {node['html'][:90]} {node['target']}"
        for rule in found
        for node in rule["nodes"]
    ]


@each_lesson
def test_every_picture_of_the_web_page_is_described(path, export, driver):
    driver.get((export / f"{path.stem}.html").as_uri())
    alts = driver.execute_script("return [...document.images].map(image => image.alt)")
    stored = [output["metadata"]["image/png"]["alt"] for _, output in pictures(load(path))]
    assert [words(alt) for alt in alts if "Colab" not in alt] == [words(alt) for alt in stored]


@each_lesson
def test_nothing_stands_in_a_screen_readers_way(path, export, driver):
    assert violations(driver, (export / f"{path.stem}.html").as_uri()) == []
