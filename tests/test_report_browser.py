"""The page of a report in a real browser: it works offline, by mouse, by keyboard, on a phone."""

import os
import re
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

from lincfa.report._page import write_report
from report_pages import (
    NASTY,
    class_findings,
    field_findings,
    make_findings,
    nasty_findings,
    spectrum_findings,
    target_findings,
)

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

BROWSER = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
pytestmark = pytest.mark.skipif(BROWSER is None, reason="there is no Chromium to open pages in")

DESKTOP = {"width": 1200, "height": 900}
PHONE = {"width": 360, "height": 740}
SHOTS = {
    "desktop": {"viewport": DESKTOP},
    "phone": {"viewport": {"width": 390, "height": 844}},
    "dark": {"viewport": DESKTOP, "color_scheme": "dark"},
}
KINDS = ["plain", "nasty", "field", "spectrum", "classes", "targets"]
WIDE = {"width": 1600, "height": 1000}
OPEN_ALL = "document.querySelectorAll('details').forEach((each) => { each.open = true; })"
# The contrast of a text with the nearest background that is not transparent, as WCAG defines it.
CONTRAST = """element => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  let under = element;
  while (under && channels(getComputedStyle(under).backgroundColor)[3] === 0)
    under = under.parentElement;
  const light = (color) => channels(color).slice(0, 3)
    .map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
  const back = under ? getComputedStyle(under).backgroundColor : "rgb(255, 255, 255)";
  const both = [light(getComputedStyle(element).color), light(back)].sort((a, b) => b - a);
  return (both[0] + 0.05) / (both[1] + 0.05);
}"""


@pytest.fixture(scope="module")
def findings():
    return make_findings(title="Runoff")


@pytest.fixture(scope="module")
def files(tmp_path_factory, findings):
    """Pages of several kinds of findings."""
    folder = tmp_path_factory.mktemp("pages")
    for name, found in {
        "plain": findings,
        "nasty": nasty_findings(),
        "field": field_findings(),
        "spectrum": spectrum_findings(),
        "classes": class_findings(),
        "targets": target_findings(),
    }.items():
        write_report(found, folder / f"{name}.html")
    return folder


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        try:
            launched = started.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        except playwright.Error as error:  # such as a placeholder that asks for another installer
            pytest.skip(f"{BROWSER} does not start: {str(error).splitlines()[0]}")
        yield launched
        launched.close()


@pytest.fixture
def visit(browser, files):
    """Opens a page; in the end nothing may have failed, or been asked for but the file."""
    contexts, troubles, requests = [], [], []

    def open_page(name="plain.html", **options):
        context = browser.new_context(**{"viewport": DESKTOP, **options})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: troubles.append(message.text))
        page.on("pageerror", lambda error: troubles.append(str(error)))
        page.on("dialog", lambda dialog: (troubles.append(dialog.message), dialog.dismiss()))
        page.on("request", lambda request: requests.append(request.url))
        page.goto((files / name).as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert troubles == []
    outside = {url for url in requests if not url.startswith("data:image/png")}
    assert outside <= {path.as_uri() for path in files.iterdir()}


def shown_names(page):
    # Not the inner text, which lines out of sight do not have: they are not laid out.
    return page.locator("#group-table > tbody > tr:visible .n").all_text_contents()


def column(page, place):
    cells = page.locator(f"#group-table > tbody > tr > td:nth-child({place})").all_text_contents()
    numbers = (text.split()[0].replace("−", "-") for text in cells)
    return [float(number) for number in numbers if number != "–"]


def wait_for(page, text):
    page.wait_for_function(
        "text => document.querySelector('#found').textContent === text", arg=text
    )


@pytest.mark.parametrize("name", ["plain.html", "nasty.html"])
def test_opens_without_a_fault(visit, name):
    page = visit(name)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"


def test_search_finds_groups_by_member(visit, findings):
    page = visit()
    total = len(findings.groups)
    assert page.inner_text("#found") == f"{total} groups"
    group = findings.groups[0]
    member = max((m.name for m in group.members), key=lambda name: (len(name), name))
    texts = {g.title: [g.title, g.name, *(m.name for m in g.members)] for g in findings.groups}
    expected = [name for name, names in texts.items() if any(member in text for text in names)]
    assert member not in group.title  # so that it takes its members to find it
    page.get_by_label("Search by group").fill(member.upper())
    verb = "matches" if len(expected) == 1 else "match"
    wait_for(page, f"{len(expected)} of {total} groups {verb}")
    assert shown_names(page) == expected
    assert page.locator("td[data-hit]").first.get_attribute("data-hit") == member
    page.fill("#search", "no such feature")
    wait_for(page, f"0 of {total} groups match")
    assert page.locator("#nothing").is_visible()
    page.press("#search", "Escape")
    wait_for(page, f"{total} groups")
    assert len(shown_names(page)) == total
    assert page.locator("#nothing").is_hidden()
    assert page.locator("#found").get_attribute("aria-live") == "polite"


def test_search_knows_members_listed_by_name_only(visit, files, monkeypatch):
    monkeypatch.setattr("lincfa.report._groups.MEMBERS_SHOWN", 1)
    found = make_findings()
    write_report(found, files / "cut.html")
    group = max(found.groups, key=lambda each: each.size)
    wanted = max(group.others, key=lambda name: (len(name), name))
    page = visit("cut.html")
    page.fill("#search", wanted)
    page.wait_for_selector("td[data-hit]")
    assert group.title in shown_names(page)
    assert page.locator(f'td[data-hit="{wanted}"]').count() == 1


def test_places_are_found_by_their_degrees_and_sorted(visit):
    page = visit("field.html")
    names = shown_names(page)
    assert "5°S–5°N 170–120°W" in names
    total = page.locator("#group-table > tbody > tr").count()
    for wanted in ("170w", "120°W", "170–120°W", "5S-5N 170-120W"):
        page.fill("#search", wanted)
        wait_for(page, f"1 of {total} groups matches")
        assert shown_names(page) == ["5°S–5°N 170–120°W"]
        assert page.locator("td[data-hit]").count() == 0
    page.fill("#search", "")
    wait_for(page, f"{total} groups")
    page.get_by_role("button", name="km²").click()
    assert shown_names(page)[-1] == "5°S–5°N 170–120°W"  # the smallest


@pytest.mark.parametrize("place", [2, 3, 4, 5, 6])
def test_sorts_by_each_column(visit, place):
    page = visit()
    head = page.locator(f"#group-table > thead th:nth-child({place})")
    before = column(page, place)
    for _ in range(2):
        head.locator("button").press("Enter")
        order = head.get_attribute("aria-sort")
        values = column(page, place)
        size = abs if place < 4 else float  # effects by their size, up or down
        assert values == sorted(before, key=size, reverse=order == "descending")
        assert page.locator("[aria-sort]").count() == 1
        last = page.locator(f"#group-table > tbody > tr:last-child > td:nth-child({place})")
        if len(values) < page.locator("#group-table > tbody > tr").count():
            assert last.text_content().strip() == "–"  # what has no figure comes last either way
    assert len(before) > 1


def test_sorts_by_name(visit):
    page = visit()
    button = page.locator("#group-table > thead button").first
    button.click()
    names = shown_names(page)
    assert page.locator("#group-table th").first.get_attribute("aria-sort") == "ascending"

    def natural(name):
        return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]

    assert names == sorted(names, key=natural)
    button.click()
    assert shown_names(page) == names[::-1]


def test_a_group_opens_by_mouse_and_by_keyboard(visit, findings):
    page = visit()
    evidence = page.get_by_text(findings.groups[0].members[1].words).first
    assert not evidence.is_visible()
    summary = page.locator("summary").first
    summary.click()
    assert evidence.is_visible()
    summary.press("Enter")
    assert not evidence.is_visible()
    summary.press("Space")
    assert evidence.is_visible()
    # The members take the width of the table, and no figure of the group is covered.
    inside, table = page.locator(".inside").first, page.locator("#group-table")
    assert inside.bounding_box()["width"] > 0.9 * table.bounding_box()["width"]
    for place in range(2, 7):
        cell = page.locator(f"#group-table > tbody > tr > td:nth-child({place})").first
        box = cell.bounding_box()
        assert box["y"] + box["height"] <= inside.bounding_box()["y"] + 8


def test_works_without_scripts(visit, findings):
    page = visit(java_script_enabled=False)
    assert not page.locator("#search").is_visible()
    assert not page.locator("#copy").is_visible()
    assert len(shown_names(page)) == len(findings.groups)
    page.locator("summary").first.click()
    assert page.get_by_text(findings.groups[0].members[1].words).first.is_visible()


def test_names_are_shown_and_never_run(visit):
    page = visit("nasty.html")
    page.evaluate(OPEN_ALL)
    page.locator("#group-table").hover()
    text = " ".join(map(page.text_content, ("header", "#group-table", "#settings")))
    for name in NASTY:
        if name.isprintable() and len(name) < 100 and name:
            assert text.count(name) > 2, name
    assert "left\\u202eright" in text
    assert "49" not in page.inner_text(".notes")
    assert page.evaluate("document.scripts.length") == 3
    page.fill("#search", "</script>")
    page.wait_for_selector("#found:has-text('match')")
    assert shown_names(page)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("opened", [False, True])
@pytest.mark.parametrize("width", [360, 800])
def test_no_page_scrolls_sideways(visit, name, opened, width):
    page = visit(f"{name}.html", viewport={"width": width, "height": 740})
    if opened:
        page.evaluate(OPEN_ALL)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, WIDE], ids=["narrow", "wide"])
def test_axe_finds_nothing_serious(visit, name, scheme, viewport):
    """What axe-core calls serious or critical, with everything open: names, roles, contrast."""
    page = visit(f"{name}.html", viewport=viewport, color_scheme=scheme)
    page.evaluate(OPEN_ALL)
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (each["id"], each["help"], [node["html"][:200] for node in each["nodes"]][:3])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_the_answer_is_in_the_first_screen(visit, findings):
    """Sentence, three numbers and warnings without scrolling, and the width is used."""
    page = visit(viewport=WIDE)
    for selector in (".answer", ".tiles li:nth-child(3)", ".warnings"):
        box = page.locator(selector).bounding_box()
        assert box["y"] + box["height"] < WIDE["height"]
    assert page.locator("main").bounding_box()["width"] > 1200
    picture = page.locator("#picture-predictions").bounding_box()
    table = page.locator(".scores").bounding_box()
    assert picture["x"] + picture["width"] < table["x"]  # side by side
    numbers = page.locator(".tiles strong").all_text_contents()
    assert numbers[-1] == str(findings.n_groups)


def test_a_field_begins_with_its_map_and_a_spectrum_with_its_bands(visit):
    for name, picture in (
        ("field", "effects-0"),
        ("spectrum", "spectrum"),
        ("plain", "predictions"),
    ):
        first = visit(f"{name}.html").locator("figure").first
        assert first.get_attribute("id") == f"picture-{picture}"


TEXTS = (
    *(
        "h1",
        ".answer",
        ".tiles strong",
        ".tiles small",
        "header p",
        "nav a",
        "h2",
        "h3",
        ".interval",
        "caption",
        "figcaption",
    ),
    *("#found", "#search", "#copy", "th button", "#group-table td", ".inside td", "dt", "dd"),
    *("pre", "small", ".quiet", ".nearest td", ".warnings", ".remark", ".v"),
)
COLORS = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))"


def test_contrast_in_light_and_dark(visit):
    pages = [visit(color_scheme=scheme) for scheme in ("light", "dark")]
    for page in pages:
        page.locator("summary").first.click()
        for selector in TEXTS:
            assert page.locator(selector).first.evaluate(CONTRAST) >= 4.5, selector
    light, dark = (page.evaluate(COLORS) for page in pages)
    assert light[0] != dark[0]
    assert light[1] != dark[1]


def test_print_leaves_out_the_controls(visit, findings):
    page = visit(color_scheme="dark")
    page.locator("summary").first.click()
    page.emulate_media(media="print")
    for selector in ("#search", "#copy", "nav"):
        assert not page.locator(selector).is_visible()
    assert page.get_by_text(findings.groups[0].members[1].words).first.is_visible()
    white = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert white == "rgb(255, 255, 255)"
    assert page.locator("body").evaluate(CONTRAST) > 10


# Cells whose numbers are wider than they are.
CUT = """() => Array.from(document.querySelectorAll(
  ".groups > tbody > tr > td:not(:first-child), .scores td.number, .by-target td.number"
)).filter((cell) => cell.scrollWidth > cell.clientWidth + 1).map((cell) => cell.textContent)"""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(("media", "width"), [("print", 688), ("screen", 390), ("screen", 1000)])
def test_no_number_is_cut(visit, name, media, width):
    """A4 has 182 mm between its margins, 688 pixels: all columns are on the page."""
    page = visit(f"{name}.html", viewport={"width": width, "height": 972})
    page.emulate_media(media=media)
    assert page.evaluate(CUT) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    if media == "print":
        ends = "Array.from(document.querySelectorAll('.box'), (box) => box.scrollWidth)"
        assert max(page.evaluate(ends)) <= width


def test_a_spectrum_uses_the_width(visit):
    for width, kind, other in ((1400, "wide", "narrow"), (390, "narrow", "wide")):
        page = visit("spectrum.html", viewport={"width": width, "height": 900})
        assert not page.locator(f"#picture-spectrum .{other}").is_visible()
        drawn = page.locator(f"#picture-spectrum .{kind} svg").bounding_box()["width"]
        assert drawn > 0.9 * page.locator("#where").bounding_box()["width"]


def test_copies_the_recipe(visit, findings, files):
    page = visit()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.click("#copy")
    page.wait_for_function("document.getElementById('copied').textContent")
    assert page.inner_text("#copied") == "Copied."
    assert page.evaluate("navigator.clipboard.readText()") == findings.recipe


def test_everything_has_a_name(visit):
    """What an accessibility checker looks at first."""
    page = visit()
    unnamed = {
        "inputs without a label": "[...document.querySelectorAll('input')]"
        ".filter(e => !e.labels.length)",
        "heads without a scope": "document.querySelectorAll('th:not([scope])')",
        "buttons without a text": "[...document.querySelectorAll('button')]"
        ".filter(e => !e.innerText)",
        "tables without a caption": "document.querySelectorAll('.box > table:not(:has(caption))')",
        "pictures without words": "[...document.querySelectorAll('svg, img')].filter(e => "
        "e.ariaHidden !== 'true' && !e.getAttribute('aria-label') && !e.querySelector('title'))",
        "regions without a name": "document.querySelectorAll("
        "'section:not([aria-labelledby]), [role=region]:not([aria-labelledby]):not([aria-label])')",
        "names of nothing": "[...document.querySelectorAll('[aria-labelledby]')]"
        ".filter(e => !document.getElementById(e.getAttribute('aria-labelledby')))",
        "links to nothing": "[...document.querySelectorAll('a')]"
        ".filter(e => !document.querySelector(e.getAttribute('href')))",
    }
    for what, script in unnamed.items():
        assert page.evaluate(f"[...{script}].map(e => e.outerHTML.slice(0, 80))") == [], what
    levels = page.evaluate(
        "[...document.querySelectorAll('h1,h2,h3,h4')].map(e => Number(e.tagName[1]))"
    )
    assert levels[0] == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    page.keyboard.press("Tab")  # the first stop of the keyboard leads past the header
    focused = page.locator(":focus")
    assert focused.inner_text() == "Skip to content"
    assert focused.bounding_box()["x"] >= 0
    assert focused.evaluate("e => getComputedStyle(e).outlineStyle") != "none"


@pytest.mark.parametrize("shot", SHOTS)
def test_screenshots(visit, tmp_path, shot):
    """Pictures of the page to look at, in the folder LINCFA_SCREENSHOTS."""
    folder = Path(os.environ.get("LINCFA_SCREENSHOTS") or tmp_path)
    folder.mkdir(parents=True, exist_ok=True)
    page = visit(**SHOTS[shot])
    page.locator("summary").last.click()
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.screenshot(path=folder / f"report-{shot}.png")
    page.locator("#groups").screenshot(path=folder / f"report-{shot}-groups.png")
    assert (folder / f"report-{shot}.png").stat().st_size > 10_000
