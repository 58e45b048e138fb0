"""Clicks through the page in a headless Chromium, with what code can do to it, and with a mouse put away."""

from __future__ import annotations

import math
import shutil

import npm
import pytest
import report_samples

from npu_migrate.report import html, writers

pytestmark = pytest.mark.slow
webdriver = pytest.importorskip("selenium.webdriver")
from selenium.webdriver.common.by import By  # noqa: E402 - only where selenium is
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

CHROMIUM, DRIVER = (shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver"))
if not (CHROMIUM and DRIVER):
    pytest.skip("needs chromium and chromedriver (Debian: chromium-driver)", allow_module_level=True)


@pytest.fixture(scope="module")
def browser():
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def visit(browser, rules, tmp_path):
    """Opens a report's page; afterwards the browser must have had nothing to complain about."""

    def go(report, lang="en", width=1280):
        path = tmp_path / "r.html"
        path.write_bytes(writers.encode(html.render(report, rules, lang)))
        resize(browser, width, 900)
        browser.get(path.as_uri())
        return browser

    yield go
    assert browser.get_log("browser") == []
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0


def visible(browser, selector):
    return [one for one in browser.find_elements(By.CSS_SELECTOR, selector) if one.is_displayed()]


def resize(browser, width, height):
    """A window of exactly this size: ``--window-size`` has a least width."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


def texts(browser, selector):
    return [one.text for one in visible(browser, selector)]


def wait(browser, condition):
    return WebDriverWait(browser, 5).until(lambda _: condition())


def click(browser, what):
    """Clicks where the eye is: below the bar at the top, after what was lazy has its height."""
    element = browser.find_element(By.CSS_SELECTOR, what) if isinstance(what, str) else what
    for _ in range(2):
        browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    element.click()


def test_language_switch(visit, real):
    browser = visit(real)
    assert texts(browser, "#verdict-head") == ["Result"]
    assert "brings CUDA" in texts(browser, "#groups")[0]
    click(browser, "button[data-lang=zh]")
    assert texts(browser, "#verdict-head") == ["结论"]
    assert browser.find_element(By.TAG_NAME, "html").get_attribute("lang") == "zh-CN"
    assert browser.title == "yolo_mini: npu-migrate, CUDA 到昇腾迁移报告"
    assert browser.find_element(By.ID, "search").get_attribute("placeholder") == "搜索路径、代码与说明"
    assert Select(browser.find_element(By.ID, "by-group")).first_selected_option.text == "文件"
    assert not visible(browser, "body [lang=en]:not(button)")
    assert texts(browser, "#shown")[0].startswith("显示")
    assert "自带 CUDA" in texts(browser, "#groups")[0]
    click(browser, "button[data-lang=en]")
    assert not visible(browser, "body [lang=zh]:not(button)")


def test_search_filter_and_group(visit, real):
    browser = visit(real)
    groups = browser.find_elements(By.CSS_SELECTOR, "#groups > details")
    search = browser.find_element(By.ID, "search")
    search.send_keys("nccl")
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "#groups > details")) < len(groups))
    search.clear()
    search.send_keys("no such thing")
    wait(browser, lambda: texts(browser, "#shown") == ["No site fits these filters."])
    search.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    wait(browser, lambda: len(browser.find_elements(By.CSS_SELECTOR, "#groups > details")) == len(groups))
    Select(browser.find_element(By.ID, "by-group")).select_by_value("status")
    assert [one.split("\n")[0] for one in texts(browser, "#groups summary")][:2] == ["unsupported", "manual"]
    click(browser, "input[value=unsupported] + span")
    assert texts(browser, "#groups summary")[0].startswith("manual")


def test_a_group_shows_its_sites_and_its_changes_side_by_side(visit, real):
    browser = visit(real)
    group = browser.find_element(By.CSS_SELECTOR, '[data-key="train.py"]')
    assert not group.find_elements(By.CSS_SELECTOR, ".site, .diff")
    click(browser, group.find_element(By.TAG_NAME, "summary"))
    wait(browser, lambda: group.find_elements(By.CSS_SELECTOR, ".diff"))
    old, new = (group.find_element(By.CSS_SELECTOR, f"td.code.{kind}") for kind in ("del", "ins"))
    assert old.find_element(By.TAG_NAME, "del").text
    assert new.find_element(By.TAG_NAME, "ins").text
    assert abs(old.location["y"] - new.location["y"]) < 2
    assert new.location["x"] > old.location["x"] + old.size["width"] / 2
    assert group.find_elements(By.CSS_SELECTOR, ".diff .c-k")


def test_links_find_their_site_through_filters(visit, real):
    browser = visit(real)
    click(browser, "input[value=unsupported] + span")
    link = browser.find_element(By.CSS_SELECTOR, "#blockers .places a")
    click(browser, link)
    target = link.get_attribute("href").partition("#")[2]
    wait(browser, lambda: browser.switch_to.active_element.get_attribute("id") == target)
    assert visible(browser, f"#{target}")
    click(browser, f"#{target} a.code")
    wait(browser, lambda: browser.execute_script("return document.querySelector('.rule[open]') !== null"))
    click(browser, ".rule[open] button.show-rule")
    code = browser.find_element(By.ID, "by-rule").get_attribute("value")
    assert browser.find_element(By.CSS_SELECTOR, ".rule[open]").get_attribute("id") == f"rule-{code}"


def test_light_and_dark(visit, real):
    browser = visit(real)

    def paper():
        return browser.execute_script("return getComputedStyle(document.documentElement).backgroundColor")

    light = paper()
    click(browser, "#theme")
    assert paper() != light
    click(browser, "#theme")
    assert paper() == light


def test_keyboard_alone(visit, real):
    browser = visit(real)
    seen = []
    for _ in range(5):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        seen.append(browser.switch_to.active_element.text)
    assert seen == ["Skip to the result", "English", "中文", "◐", "Print"]
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    assert browser.switch_to.active_element.get_attribute("id") == "search"
    group = browser.find_element(By.CSS_SELECTOR, '[data-key="val.py"]')
    group.find_element(By.TAG_NAME, "summary").send_keys(Keys.ENTER)
    assert group.get_attribute("open") is not None


def test_filters_by_keyboard_are_told(visit, real):
    browser = visit(real)
    browser.find_element(By.TAG_NAME, "body").send_keys("/")
    told = browser.find_element(By.ID, "shown")
    assert (told.get_attribute("role"), told.get_attribute("aria-live")) == ("status", "polite")
    before = told.text
    browser.switch_to.active_element.send_keys("nccl")
    wait(browser, lambda: told.text != before)
    before = told.text
    browser.switch_to.active_element.send_keys(Keys.TAB)
    box = browser.switch_to.active_element
    assert (box.aria_role, box.is_selected()) == ("checkbox", True)
    assert box.accessible_name.split()[0] == "rewritten"
    box.send_keys(Keys.SPACE)
    wait(browser, lambda: told.text != before)
    assert browser.switch_to.active_element == box


SEEN = """
const [one] = arguments;
const shown = one.matches('fieldset input') ? one.nextElementSibling : one;
const box = shown.getBoundingClientRect();
return getComputedStyle(shown).outlineStyle === 'solid' && box.bottom > 0 && box.top < window.innerHeight;
"""


@pytest.mark.parametrize("width", [1280, 390])
def test_every_stop_of_the_keyboard_is_seen_and_has_a_name(visit, real, width):
    browser = visit(real, width=width)
    stops = []
    while len(stops) < 40:
        browser.switch_to.active_element.send_keys(Keys.TAB)
        stop = browser.switch_to.active_element
        assert browser.execute_script(SEEN, stop), stop.get_attribute("outerHTML")[:200]
        assert stop.accessible_name, stop.get_attribute("outerHTML")[:200]
        stops.append(stop)
    assert len(set(stops)) == len(stops)


def test_marks_of_its_structure(visit, real):
    browser = visit(real)
    levels = [int(one.tag_name[1]) for one in visible(browser, "h1, h2, h3, h4")]
    assert levels[0] == 1
    assert all(level <= above + 1 for above, level in zip(levels, levels[1:]))
    assert len(browser.find_elements(By.CSS_SELECTOR, "header, nav[aria-label], main, footer")) == 4
    click(browser, "#open-all")
    for table in browser.find_elements(By.TAG_NAME, "table"):
        assert table.find_elements(By.CSS_SELECTOR, "thead th[scope=col]"), table.get_attribute("outerHTML")[:200]


WIDER = """
const edge = document.querySelector('main').getBoundingClientRect().right + 1;
return [...document.querySelectorAll('section > *, .card, .fold, .site')]
  .filter((one) => one.getBoundingClientRect().right > edge).map((one) => one.outerHTML.slice(0, 200));
"""


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_page_is_never_wider_than_the_window(visit, real, lang, width):
    browser = visit(real, lang, width)
    click(browser, "#open-all")
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.execute_script(WIDER) == []


def test_long_words_break_in_a_narrow_window(visit, tmp_path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("import torch\n\nmodel = torch.nn.DataParallel(model)\n")
    browser = visit(report_samples.real(tmp_path / "tree"), width=390)
    assert "torch.nn.parallel.DistributedDataParallel(model" in texts(browser, "#blockers .kind")[0]
    assert browser.execute_script(WIDER) == []


def test_hostile_code_stays_text(visit, hostile):
    browser = visit(hostile)
    click(browser, "#open-all")
    for group in ("rule", "status", "file"):
        Select(browser.find_element(By.ID, "by-group")).select_by_value(group)
        click(browser, "#open-all")
    assert browser.execute_script("return document.scripts.length") == 2
    assert not browser.find_elements(By.CSS_SELECTOR, "img, iframe, main b script, [onmouseover]")
    assert "</script><script>alert(1)</script>" in browser.find_element(By.ID, "groups").text


def test_ten_thousand_sites(visit, large):
    browser = visit(large)
    assert texts(browser, "#shown") == ["7,600 of 10,000 sites"]
    Select(browser.find_element(By.ID, "by-group")).select_by_value("status")
    first = browser.find_element(By.CSS_SELECTOR, "#groups > details")
    assert not first.find_elements(By.CSS_SELECTOR, ".site")
    click(browser, first.find_element(By.TAG_NAME, "summary"))
    wait(browser, lambda: len(first.find_elements(By.CSS_SELECTOR, ".site")) == 100)
    click(browser, first.find_element(By.CSS_SELECTOR, ":scope > button"))
    assert len(first.find_elements(By.CSS_SELECTOR, ".site")) == 200


PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
TAKES = """
const [script, done] = arguments;
const start = performance.now();
new Function(script)();
requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""


def test_ten_thousand_sites_do_not_keep_anybody_waiting(visit, large):
    browser = visit(large)
    took = {"first paint": browser.execute_script(PAINTED)}
    for name, script in {
        "all of them": "document.querySelector('[name=status][value=kept]').click()",
        "a key": "search.value = 'm'; list()",
        "another key": "search.value = 'mo'; list()",
        "a file": "groups.children[5].querySelector('summary').click()",
        "every file": "document.getElementById('open-all').click()",
        "a key while all are open": "search.value = 'mod'; list()",
        "the other language": "document.querySelector('button[data-lang=zh]').click()",
    }.items():
        took[name] = browser.execute_async_script(TAKES, script)
    assert {name: round(time) for name, time in took.items() if time > 1000} == {}
    groups = browser.find_elements(By.CSS_SELECTOR, "#groups > details")
    WebDriverWait(browser, 60).until(lambda _: browser.execute_script("return queue.size") == 0)
    assert len(groups) == len(browser.find_elements(By.CSS_SELECTOR, "#groups > details[open] > ol")) == 200


AXE = """
const done = arguments[0];
const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
axe.run(document, { runOnly: { type: 'tag', values } }).then((found) => done(found.violations));
"""
SETTLED = """
const done = arguments[0];
const height = () => document.body.getBoundingClientRect().height;
const before = height();
setTimeout(() => done(height() === before ? before : 0), 500);
"""


@pytest.fixture
def axe(request):
    """The text of the checker."""
    folder = npm.install(request.config.cache, "axe-core@4.14.1")
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("lang", ["en", "zh"])
def test_accessible_by_axe(visit, real, axe, lang, theme):
    browser = visit(real, lang)
    if theme == "dark":
        click(browser, "#theme")
    browser.execute_script("for (const one of document.querySelectorAll('details')) one.open = true; openAll(true);")
    wait(browser, lambda: browser.execute_script("return queue.size") == 0)
    browser.execute_script(axe)
    for width in (1280, 390):
        for _ in range(2):  # what lies outside of the window is not looked at, and has no height yet
            resize(browser, width, math.ceil(wait(browser, lambda: browser.execute_async_script(SETTLED))) + 50)
        wait(browser, lambda: browser.execute_async_script(SETTLED))
        found = browser.execute_async_script(AXE)
        assert [(one["id"], one["nodes"][0]["html"][:200]) for one in found] == []
