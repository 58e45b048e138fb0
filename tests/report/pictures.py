"""Shoots the pictures in docs/images anew: ``python tests/report/pictures.py REPORT.html``, a report of yolov5.

Not a test: what the pictures show depends on the fonts of the machine. Look at them before you commit them.
"""

from __future__ import annotations

import base64
import shutil
import sys
import time
from pathlib import Path

from selenium import webdriver

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
#: Language, look, width and height in CSS pixels, and what is opened first.
SHOTS = {
    "report-en.png": ("en", "light", 1280, 1320, ""),
    "report-zh.png": ("zh", "light", 1280, 1320, ""),
    "report-dark.png": ("en", "dark", 1280, 1320, ""),
    "report-phone.png": ("zh", "light", 390, 1600, ""),
    "report-diff.png": ("en", "dark", 1280, 1000, "classify/train.py"),
}
OPEN = """
const group = document.querySelector(`[data-key="${arguments[0]}"]`);
fill(group);
group.open = true;
group.querySelector('.diff').scrollIntoView();
"""


def main(report: Path) -> None:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"):
        options.add_argument(argument)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))
    for name, (lang, look, width, height, path) in SHOTS.items():
        # --window-size has a least width of 500 pixels; this has not.
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        features = [{"name": "prefers-color-scheme", "value": look}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(report.resolve().as_uri())
        browser.execute_script("speak(arguments[0])", lang)
        if path:
            browser.execute_script(OPEN, path)
        time.sleep(1)  # what stands outside of the window is laid out late
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
        (IMAGES / name).write_bytes(base64.b64decode(shot["data"]))
    browser.quit()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
