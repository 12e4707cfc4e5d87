"""A headless Chromium that says what a page did: its complaints, its requests, its dialogs."""
import base64
import collections
import contextlib
import json
import pathlib
import shutil
import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys

import browser_start

PATIENCE_S = 120  # how long a page may take before it counts as hung; no bound on its speed
LOUD = ("WARNING", "SEVERE")

Node = collections.namedtuple("Node", "role name focusable")


class Browser:
    def __init__(self, width=1280, height=900):
        options = webdriver.ChromeOptions()
        options.binary_location = browser_start.chromium()
        # Without a sandbox, as root has none, and containers often not; the pages are our own.
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--disable-background-networking", "--disable-component-update", "--no-first-run",
                         "--force-device-scale-factor=1"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        options.set_capability("unhandledPromptBehavior", "ignore")  # an alert() breaks the test that meets it
        self.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.driver.set_page_load_timeout(PATIENCE_S)
        self.driver.set_script_timeout(PATIENCE_S)
        self.resize(width, height)
        self.cdp("Page.addScriptToEvaluateOnNewDocument", source="""
            window.violations = [];
            addEventListener('securitypolicyviolation', event => violations.push(event.blockedURI));""")

    def close(self):
        self.driver.quit()

    def cdp(self, command, **parameters):
        return self.driver.execute_cdp_cmd(command, parameters)

    def js(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    # -- The page

    def resize(self, width, height, mobile=False):
        self.cdp("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)

    def emulate(self, scheme="light", media=""):
        self.cdp("Emulation.setEmulatedMedia", media=media,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, page, fragment="", wait=True):
        """A page of the disk, or a whole URL. Always a new document."""
        self.driver.get("about:blank")
        self.driver.get((page if isinstance(page, str) else pathlib.Path(page).as_uri()) + fragment)
        if wait:
            self.wait_ready()

    def reload(self):
        self.driver.refresh()
        self.wait_ready()

    def wait_ready(self):
        self.wait(lambda: self.js("return document.documentElement.classList.contains('ready')"), "html.ready")

    def wait(self, condition, what):
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
            time.sleep(0.02)

    @property
    def url(self):
        return self.js("return location.href")

    @property
    def fragment(self):
        return self.js("return decodeURIComponent(location.hash.slice(1).replaceAll('+', ' '))")

    @contextlib.contextmanager
    def no_scripts(self):
        """Pages opened herein run none of their own; `js` is run afterwards, on what they left."""
        self.cdp("Emulation.setScriptExecutionDisabled", value=True)
        try:
            yield
        finally:
            self.cdp("Emulation.setScriptExecutionDisabled", value=False)

    # -- What it did

    def complaints(self):
        """What the console has said since the last call that is no mere information, and violated policies."""
        said = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] in LOUD]
        return said + self.js("return window.violations?.splice(0) ?? []")

    def requests(self):
        """The URLs that pages asked for since the last call, blocked ones too."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] in ("Network.requestWillBeSent", "Network.webSocketCreated",
                                     "Network.webTransportCreated"):
                parameters = message["params"]
                urls.append(parameters["request"]["url"] if "request" in parameters else parameters["url"])
        return urls

    # -- The reader

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        (element,) = self.all(selector)
        return element

    def texts(self, selector):
        return self.js("return [...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector)

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def press_with(self, modifier, key):
        webdriver.ActionChains(self.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    def click(self, element):
        """With the mouse, in the middle of the window, where the menu does not stick."""
        self.js("arguments[0].scrollIntoView({block: 'center'})", element)
        element.click()

    def focus(self):
        """What has the keyboard's focus: its name, and what identifies it."""
        return self.js("""const e = document.activeElement;
            return {name: e.localName, text: e.textContent.trim(), href: e.getAttribute('href') ?? '', id: e.id,
                    field: e.getAttribute('name') ?? ''};""")

    def tab_to(self, wanted, most=400):
        """Presses Tab until `wanted(focus)` holds."""
        for _ in range(most):
            self.press(Keys.TAB)
            if wanted(self.focus()):
                return
        raise AssertionError(f"{most} times Tab did not lead there")

    def accessible(self):
        """What a screen reader is given: the nodes that it does not ignore."""
        def is_focusable(node):
            return any(p["name"] == "focusable" and p["value"]["value"] for p in node.get("properties", []))
        return [Node(node["role"]["value"], node.get("name", {}).get("value", "").strip(), is_focusable(node))
                for node in self.cdp("Accessibility.getFullAXTree")["nodes"] if not node["ignored"]]

    def picture(self, whole=False):
        """A PNG of what is seen, or of the whole page."""
        return base64.b64decode(self.cdp("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def pdf(self):
        return base64.b64decode(self.cdp("Page.printToPDF", paperWidth=8.27, paperHeight=11.69,
                                         printBackground=False)["data"])
