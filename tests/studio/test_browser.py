"""The whole path in a browser: from an invented hospital's table to a verified release, in both languages.

Pictures of every step go to build/studio, to be looked at. ``make test-studio`` installs what this needs but Chromium.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cli_bench import run

pytestmark = pytest.mark.browser
ROOT = Path(__file__).resolve().parents[2]
HOSPITAL = ROOT / "examples" / "hospital"
PICTURES = ROOT / "build" / "studio"
LONG = 300_000  # milliseconds; a busy machine is no fault
ROLES = {"length_of_stay": 4, "cost": 1}
RECORD = {"purpose": "A study of stays", "recipient": "A university", "responsible": "Data office"}
STEPS = ("open", "columns", "coarser", "promise", "result", "evidence")
# names without which a control is mute for who cannot see it, and ids that stand twice
FAULTS = """() => {
  const found = [];
  const named = (one) => one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.textContent.trim()
    || (one.labels && one.labels.length && one.labels[0].textContent.trim());
  for (const one of document.querySelectorAll("button, a, input:not([type=hidden]), select, textarea, progress"))
    if (!named(one)) found.push("no name: " + one.outerHTML);
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  for (const id of new Set(ids)) if (ids.filter((own) => own === id).length > 1) found.push("twice: " + id);
  for (const one of document.querySelectorAll("[aria-describedby]"))
    for (const id of one.getAttribute("aria-describedby").split(" "))
      if (!document.getElementById(id)) found.push("nowhere: " + id);
  for (const one of document.querySelectorAll("svg:not([aria-hidden]):not([role=img])")) found.push("a bare drawing");
  for (const one of document.querySelectorAll("table"))
    if (!one.querySelector("th")) found.push("a table without heads");
  let last = 0;
  for (const one of document.querySelectorAll("h1, h2, h3")) {
    const level = Number(one.tagName[1]);
    if (level > last + 1) found.push("a level of headings left out: " + one.textContent);
    last = level;
  }
  return found;
}"""


class Visit:
    """A browser at a studio of its own."""

    def __init__(self, page, folder, address, language, server):
        self.page, self.folder, self.language, self.server = page, folder, language, server
        self.home = address.split("?")[0]
        self.requests, self.said = [], []
        page.on("request", lambda asked: self.requests.append(asked.url))
        page.on("console", lambda message: self.said.append(message.text))
        page.on("pageerror", lambda error: self.said.append(str(error)))
        page.set_default_timeout(LONG)
        page.goto(address)
        page.wait_for_selector("#undo")

    def idle(self):
        self.page.wait_for_timeout(400)
        self.page.wait_for_selector('body[data-busy=""]')

    def at(self, step):
        self.page.wait_for_selector(f'body[data-step="{step}"]')

    def look(self, name):
        PICTURES.mkdir(parents=True, exist_ok=True)
        self.page.evaluate("document.body.classList.add('picture')")
        self.page.screenshot(path=PICTURES / f"{self.language}-{name}.png", full_page=True)
        assert self.page.evaluate(FAULTS) == [], name
        assert self.page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), name

    def press(self, place):
        self.page.click(place)
        self.idle()

    def decide(self):
        cards = self.page.locator("section.card").count()
        for number in range(1, cards + 1):
            if not self.page.locator(f"#role-{number}-1").count():
                continue
            name = self.page.inner_text(f"#name-{number}")
            button = (
                f"#role-{number}-{ROLES[name]}" if name in ROLES else f"section.card:nth-of-type({number}) .suggested"
            )
            self.page.click(button)
            self.page.wait_for_selector(f"section.card.decided:nth-of-type({number})")


@pytest.fixture
def visit(request, tmp_path):
    from playwright.sync_api import sync_playwright

    language, table = request.param if isinstance(request.param, tuple) else (request.param, "discharges.csv")
    folder = tmp_path / "hospital"
    shutil.copytree(HOSPITAL, folder)
    words = [sys.executable, "-m", "indistinct", "studio", "--no-browser", str(folder / table)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as play:
        address = re.search(r"http\S+", server.stdout.readline())[0]
        browser = play.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_context(viewport={"width": 1280, "height": 900}, locale=language).new_page()
        yield Visit(page, folder, address, language, server)
        browser.close()
        server.terminate()
        assert server.wait(20) == 130


@pytest.mark.parametrize("visit", ["en", "zh-CN"], indirect=True)
def test_from_open_to_a_verified_release(visit):
    page = visit.page
    assert (
        len([asked for asked in visit.requests if "/events" not in asked]) <= 7
    )  # a first page, and one when it is read
    visit.page.goto(visit.home + "open")
    visit.look("1-open")
    visit.press("#person-right")
    page.click("#next")
    visit.at("columns")
    visit.decide()
    visit.idle()
    visit.look("2-columns")
    page.click("#next")
    visit.at("coarser")
    page.select_option("select[name=choice] >> nth=3", "calendar")
    visit.idle()
    visit.look("3-coarser")
    visit.press("#accept-coarser")
    page.click("#next")
    visit.at("promise")
    visit.press("#recipient-researchers")
    page.focus("#value-0")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    visit.idle()
    assert page.input_value("#value-0") == "8"
    visit.press("#curve-0")
    page.wait_for_selector(".curve svg")
    visit.look("4-promise")
    page.click("#next")
    visit.at("result")
    visit.press("#ask-blocks")
    visit.press("#block-1")
    visit.look("5-result")
    assert page.locator(".tries tbody tr").count() >= 2
    page.click("#next")
    visit.at("evidence")
    visit.look("6-evidence")
    for name, text in RECORD.items():
        page.fill(f"#record-{name}", text)
    visit.press("#write-record")
    page.click("#publish")
    page.wait_for_selector(".files")
    visit.look("7-published")
    with page.expect_download() as got:
        page.click("#file-table")
    published = (visit.folder / "discharges-published.csv").read_bytes()
    assert Path(got.value.path()).read_bytes() == published
    again = visit.folder / "again.csv"
    policy = visit.folder / "discharges-published.policy.toml"
    assert run("anonymize", visit.folder / "discharges.csv", "--policy", policy, "--output", again).returncode == 0
    assert again.read_bytes() == published
    page.set_viewport_size({"width": 390, "height": 844})
    for step in STEPS:
        page.goto(visit.home + step)
        visit.look(f"narrow-{step}")
    assert [asked for asked in visit.requests if not asked.startswith(visit.home)] == []
    assert visit.said == []


@pytest.mark.parametrize("visit", ["en"], indirect=True)
def test_by_keyboard_alone_with_a_reload_and_a_second_tab(visit):
    page = visit.page

    def tab_to(place):
        for _ in range(300):
            if page.evaluate("(place) => document.activeElement.matches(place)", place):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"{place} is never reached")

    page.keyboard.press("1")
    visit.at("open")
    tab_to("#person-right")
    page.keyboard.press("Enter")
    visit.idle()
    page.keyboard.press("2")
    visit.at("columns")
    tab_to("#role-2-1")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    page.wait_for_selector("section.card.decided:nth-of-type(2)")
    assert page.evaluate("document.activeElement.id") == "role-2-1"  # the place is kept when the page is drawn anew
    other = page.context.new_page()
    other.goto(visit.home + "columns")
    other.wait_for_selector("section.card.decided:nth-of-type(2)")
    other.click("#role-3-1")
    page.wait_for_selector("section.card.decided:nth-of-type(3)")  # one tab tells the other
    page.reload()
    page.wait_for_selector("section.card.decided:nth-of-type(3)")
    page.keyboard.press("6")  # a step that may not be entered yet
    visit.at("columns")
    assert visit.said == []


@pytest.mark.parametrize("visit", ["en"], indirect=True)
def test_cancel_and_a_server_that_is_gone(visit):
    page = visit.page
    visit.page.goto(visit.home + "columns")
    visit.decide()
    visit.idle()
    page.goto(visit.home + "result")
    before = sorted(path.name for path in visit.folder.iterdir())
    page.click("#ask-blocks")
    page.click("#cancel")
    page.wait_for_selector('body[data-busy=""]')
    assert page.locator("#ask-blocks:enabled").count() == 1
    assert sorted(path.name for path in visit.folder.iterdir()) == before
    visit.server.terminate()
    page.wait_for_selector("#away:not([hidden])")
