"""A real browser without a window, for pages that are looked at as users do."""

import json
import re
import shutil

import pytest

# Nothing that the browser does by itself should reach for the network.
FLAGS = """--headless --no-sandbox --disable-gpu --disable-quic --no-first-run
    --disable-background-networking --disable-component-update --disable-sync --disable-extensions
    --disable-default-apps --disable-dev-shm-usage"""


def start_browser(profile):
    """A browser with its own profile folder; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="driving a browser needs selenium")
    from selenium.common.exceptions import WebDriverException

    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("no chromium and chromedriver: apt-get install chromium chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in [*FLAGS.split(), f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        return webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    except WebDriverException as error:
        # What it says names folders of the machine.
        pytest.skip(f"chromium does not start here: {type(error).__name__}")


def resize(browser, width):
    """Let the browser take its window for one of that width."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def requested(browser):
    """Addresses that were asked for since the last call."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


def luminance(color):
    """Relative luminance of a colour of CSS, as WCAG defines it."""
    parts = [float(part) / 255 for part in re.findall(r"[\d.]+", color)[:3]]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))


def contrast(ink, paper, opacity=1):
    """Contrast of two colours, from 1 to 21, of which the first lets the second through."""
    front, back = ([float(part) for part in re.findall(r"[\d.]+", each)] for each in (ink, paper))
    opacity *= front[3] if len(front) > 3 else 1
    mixed = [opacity * over + (1 - opacity) * below for over, below in zip(front[:3], back)]
    low, high = sorted([luminance(str(mixed)), luminance(paper)])
    return (high + 0.05) / (low + 0.05)
