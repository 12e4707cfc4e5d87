"""What the tests of the page in a browser share: the page of a run that is open, its tables and its dialog."""
import re

from selenium.webdriver.support.ui import Select

from browser import Browser
from pages import ReportTest

LAPTOP = (1280, 900)

TABLE_STATE = """
    const cells = row => [...row.cells].map(cell => cell.textContent);
    return {rows: [...document.querySelectorAll('#table tbody tr')].map(cells),
            count: document.querySelector('#count').textContent,
            page: document.querySelector('.pager').textContent.match(/page \\d+ of \\d+/)[0],
            controls: Object.fromEntries([...document.querySelectorAll('.controls [name]')].map(c => [c.name, c.value])),
            sorted: [...document.querySelectorAll('#table th[aria-sort]')].map(
                th => [th.textContent, th.getAttribute('aria-sort')])};"""

FIXED = """
    return [...document.querySelectorAll('.wide table')].filter(table => !table.closest('#table')).map(table => ({
        header: [...table.tHead.rows[0].cells].map(cell => cell.textContent),
        sorted: [...table.tHead.rows[0].cells].map(cell => cell.getAttribute('aria-sort')),
        axis: [...table.tBodies[0].rows].map(row => row.className === 'axis'),
        rows: [...table.tBodies[0].rows].map(row => [...row.cells].map(
            cell => cell.dataset.v === undefined ? cell.textContent : Number(cell.dataset.v)))}));"""

class PageTest(ReportTest):
    """Each test ends with a console that said nothing and a log without a request."""

    browser = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser(*LAPTOP)
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        super().setUp()
        self.browser.resize(*LAPTOP)
        self.browser.emulate()
        self.addCleanup(self.check_silence)

    def check_silence(self, browser=None):
        browser = browser or self.browser
        complaints = browser.complaints()
        own = tuple((self.folder / name).as_uri() for name in ("", *(p.name for p in self.folder.iterdir())))
        asked = [url for url in browser.requests() if not url.startswith(("about:", "data:")) and not (
            url.startswith(own[0]) and url.split("#")[0].endswith(".html"))]
        self.assertEqual(complaints, [])
        self.assertEqual(asked, [])

    def open(self, *runs, fragment="", out="report.html", **options):
        """The page of these runs in the browser; returns the page taken apart."""
        page = self.report(*runs, out=out)
        self.browser.open(self.folder / out, fragment, **options)
        return page

    def open_mixed(self, **options):
        self.write_mixed()
        return self.open("mixed", **options)

    def write_all_kinds(self):
        """Run directories by the name of their page."""
        self.write_mixed()
        self.write_run("after", self.with_times(self.real_rows(), 1.5), run_id="after")
        self.write_run("empty", [], ended_at=None)
        self.write_hostile()
        self.write_paired()
        self.write_history()
        return {"mixed": ["mixed"], "two": ["mixed", "after"], "empty": ["empty"], "hostile": ["hostile"],
                "paired": ["paired"], "history": ["runs"]}

    def for_all_kinds(self, check):
        """Calls check(name, page) with the page of each kind open."""
        for name, runs in self.write_all_kinds().items():
            with self.subTest(name):
                check(name, self.open(*runs, out=f"{name}.html"))

    def columns(self):
        return list(self.real_rows()[0])

    # -- The table of results

    def table(self):
        return self.browser.js(TABLE_STATE)

    def choose(self, name, value):
        Select(self.browser.one(f".controls select[name={name}]")).select_by_value(value)

    def search(self, text):
        field = self.browser.one(".controls input")
        field.clear()
        field.send_keys(text)

    def sort_by(self, header):
        self.browser.js("""[...document.querySelectorAll('#table th button')].find(
            b => b.textContent === arguments[0]).click();""", header)

    def click(self, selector):
        self.browser.js("document.querySelector(arguments[0]).click()", selector)

    # -- The dialog

    def dialog(self):
        """The open row: title, place, cells; None where there is none."""
        return self.browser.js("""
            const d = document.querySelector('dialog[open]');
            return d && {title: d.querySelector('#row-title').textContent, said: d.querySelector('p')?.textContent,
                names: [...d.querySelectorAll('dt')].map(e => e.textContent),
                cells: [...d.querySelectorAll('dd')].map(e => e.textContent),
                copies: [...d.querySelectorAll('[data-copy]')].map(e => e.dataset.copy)};""")

    def wait_for_dialog(self):
        self.browser.wait(self.dialog, "the dialog")
        return self.dialog()

    def wait_for_no_dialog(self):
        """The URL forgets the row in an event of its own."""
        self.browser.wait(lambda: not self.dialog(), "the end of the dialog")
        self.browser.wait(lambda: "row=" not in self.browser.fragment, "a URL without the row")

    def check_dialog(self, page, link):
        """The dialog shows what the link says, as the csv module reads it."""
        file, number = map(int, re.fullmatch(r"#row=(\d+)\.(\d+)", link).groups())
        name, content = page.files()[file]
        columns = content.decode("utf-8").split("\n", 1)[0].split(",")
        row = page.rows(file)[number]
        shown = self.wait_for_dialog()
        self.assertEqual(shown["said"], f"Row {number + 1} of {name}. Empty cells are left out.")
        self.assertEqual(list(zip(shown["names"], shown["cells"])), [(c, v) for c, v in zip(columns, row) if v])
        if "case_id" in columns:
            self.assertEqual(shown["title"], row[columns.index("case_id")])
        self.assertTrue(self.browser.fragment.endswith(link[1:]))
        return shown
