"""The page of `assay report` in a real browser: what it shows, how it is used, and that it asks nobody for anything."""
import re
import time
import unittest

from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from browser import Browser
from pages import HOSTILE, ReportTest

BAD = {"fail", "vacuous", "flaky", "timeout", "crash", "oom", "device_lost", "error"}
PHONE = (390, 844)
LAPTOP = (1280, 900)
A4 = (718, 1016)  # CSS pixels within margins of 1 cm

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

# Elements that stick out of the page, where no scroll bar leads to them.
CUT = """
    const width = document.documentElement.clientWidth;
    const scrolls = e => e && e !== document.body && (['auto', 'scroll'].includes(getComputedStyle(e).overflowX) ||
                                                     scrolls(e.parentElement));
    return [...document.body.querySelectorAll('*')].filter(e => {
      const box = e.getBoundingClientRect();
      return box.width > 0 && (box.right > width + 1 || box.left < -1) && !scrolls(e) &&
          !e.matches('a.skip, svg *');
    }).map(e => [e.localName, e.getAttribute('class'), e.getBoundingClientRect().left, e.getBoundingClientRect().right,
                 e.textContent.slice(0, 40)].join());"""

# The contrast of each text with what is behind it, and of each mark of a chart with its paper (WCAG 2.2, 1.4.3 and
# 1.4.11); the least for each pair of colours. Text of disabled controls is exempt.
CONTRAST = """
    const parse = text => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
    const over = (top, under) => { const a = top[3] ?? 1; return [0, 1, 2].map(i => a * top[i] + (1 - a) * under[i]); };
    const luminance = colour => { const [r, g, b] = colour.map(c => c / 255).map(
        c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p);
                                 return (x + 0.05) / (y + 0.05); };
    const behind = e => { if (!e) return [255, 255, 255];
                          const own = parse(getComputedStyle(e).backgroundColor);
                          return (own[3] ?? 1) === 1 ? own.slice(0, 3) : over(own, behind(e.parentElement)); };
    const paper = e => parse(getComputedStyle(e.closest('svg').querySelector('.paper')).fill).slice(0, 3);
    const found = new Map();
    const note = (kind, e, front, back, least) => {
      const value = contrast(over(front, back), back);
      const key = `${kind} ${front} on ${back}`;
      if (!found.has(key)) found.set(key, {what: `${e.localName}.${e.getAttribute('class')}: ${key}`, value, least,
                                           text: e.textContent.trim().slice(0, 40)});
    };
    for (const e of document.querySelectorAll('body *')) {
      const style = getComputedStyle(e);
      if (style.opacity !== '1') throw new Error('opacity is not reckoned with');
      if (e.closest('svg')) {
        if (!e.matches('svg, title, a, g, .paper, .grid')) {
          const is_text = e.localName === 'text';
          const is_line = e.matches('line, polyline') || style.fill === 'none';
          const colour = parse(is_line ? style.stroke : style.fill);
          if (style.fillOpacity !== '1') continue;  // a shade behind marks
          note(is_text ? 'text' : 'mark', e, colour, paper(e), is_text ? 4.5 : 3);
        }
        continue;
      }
      const has_text = [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim());
      if (has_text && e.getClientRects().length && !e.disabled) note('text', e, parse(style.color), behind(e), 4.5);
      if (e.placeholder) note('placeholder', e, parse(getComputedStyle(e, '::placeholder').color), behind(e), 4.5);
      if (e.matches('input, select')) note('edge', e, parse(style.borderTopColor), behind(e.parentElement), 3);
    }
    return [...found.values()];"""


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


class Opened(PageTest):
    def test_every_kind_of_page_opens_in_silence(self):
        def check(_, page):
            self.assertEqual(self.browser.js("return [...document.querySelectorAll('main section')].map(s => s.id)"),
                             page.sections())
            self.check_silence()
        self.for_all_kinds(check)

    def test_the_menu_leads_to_every_section(self):
        page = self.open_mixed()
        links = self.browser.all("nav a")
        self.assertEqual({link.get_attribute("href").split("#")[1] for link in links}, set(page.sections()))
        for link in links:
            name = link.get_attribute("href").split("#")[1]
            link.click()
            top, under, focused = self.browser.js("""
                const h = document.querySelector(`#${arguments[0]} h2`);
                return [h.getBoundingClientRect().top, document.querySelector('nav').getBoundingClientRect().bottom,
                        document.activeElement === h];""", name)
            self.assertTrue(focused, name)
            self.assertGreaterEqual(top, under - 1, f"{name} is under the menu")
            self.assertLess(top, LAPTOP[1], f"{name} is not in sight")

    def test_a_request_would_be_seen(self):
        self.open_mixed()
        self.check_silence()
        self.browser.js("new Image().src = 'http://127.0.0.1:9/x.png'")
        self.browser.wait(lambda: "127.0.0.1" in str(self.browser.requests()), "the request in the log")
        self.assertIn("http://127.0.0.1:9/x.png", self.browser.complaints())


class FixedTables(PageTest):
    def fixed(self):
        return self.browser.js(FIXED)

    def press_header(self, table, column):
        self.browser.js("""[...document.querySelectorAll('.wide table')].filter(t => !t.closest('#table'))[arguments[0]]
            .tHead.rows[0].cells[arguments[1]].querySelector('button').click()""", table, column)

    def check_order(self, cells, is_descending):
        """Empty ones last; among the others numbers and text each in order."""
        full = [cell for cell in cells if cell != ""]
        self.assertEqual(cells, full + [""] * (len(cells) - len(full)))
        for kind in (str, float):
            of_kind = [c for c in full if isinstance(c, str) == (kind is str)]
            if kind is float:
                self.assertEqual(of_kind, sorted(of_kind, reverse=is_descending))
            elif all(c.isascii() and c.isalpha() and c.islower() for c in of_kind):
                self.assertEqual(of_kind, sorted(of_kind, reverse=is_descending))

    def test_each_column_of_each_table_sorts_both_ways_and_back(self):
        self.write_mixed()
        self.write_paired()
        self.open("mixed", "paired")
        before = self.fixed()
        self.assertGreater(len(before), 5)
        sorted_otherwise = 0
        for t, table in enumerate(before):
            for c, name in enumerate(table["header"]):
                if not name:
                    continue
                for direction in ("descending", "ascending"):
                    self.press_header(t, c)
                    now = self.fixed()[t]
                    self.assertEqual(now["sorted"], [direction if i == c else None for i in range(len(now["sorted"]))])
                    self.assertNotIn(True, now["axis"][1:], "the axis stays above its rows")
                    rows = [row for row, is_axis in zip(now["rows"], now["axis"]) if not is_axis]
                    self.check_order([row[c] for row in rows], direction == "descending")
                    self.assertEqual(sorted(map(str, now["rows"])), sorted(map(str, table["rows"])))
                    sorted_otherwise += now["rows"] != table["rows"]
                self.press_header(t, c)
                self.assertEqual(self.fixed()[t], table)
        self.assertGreater(sorted_otherwise, 10)
        self.assertEqual(self.browser.fragment, "")

    def test_the_order_is_in_the_url(self):
        self.open_mixed()
        self.press_header(0, 0)
        self.press_header(2, 1)
        self.press_header(2, 1)
        chosen = self.fixed()
        self.assertEqual(self.browser.fragment, "sort0=0d&sort2=1a")
        self.browser.reload()
        self.assertEqual(self.fixed(), chosen)


class Results(PageTest):
    def expected(self, page, **wanted):
        rows = [dict(zip(self.columns(), row)) for row in page.rows(0)]
        words = wanted.pop("q", "").lower().split()
        status = wanted.pop("status", "")
        return [row for row in rows
                if all(row[key] == value for key, value in wanted.items() if value)
                and (not status or row["status"] == status
                     or status == "bad" and row["status"] in BAD and not row["expected_failure"])
                and all(word in f"{row['case_id']} {row['device']} {row['reason']}".lower() for word in words)]

    def check(self, page, **wanted):
        rows = self.expected(page, **wanted)
        table = self.table()
        self.assertEqual(table["count"], f"{len(rows)} of {len(page.rows(0))} rows")
        self.assertEqual([(r[0].split(" ")[1], *r[1:4]) for r in table["rows"]],
                         [(r["status"], r["case_id"], r["device"], r["timing"]) for r in rows[:100]])
        for name, value in wanted.items():
            self.assertEqual(table["controls"][name], value)
        return len(rows)

    def test_it_filters_by_words_and_choices(self):
        page = self.open_mixed()
        self.assertEqual(self.check(page), len(page.rows(0)))
        for text in ("add", "ADD f32", "sim:1 add", "signal 11", "no such thing", "n=1003 i64"):
            self.search(text)
            self.assertEqual(self.check(page, q=text) > 0, text != "no such thing")
            self.assertEqual(self.browser.fragment, f"q={text}")
        self.search("add")
        self.choose("status", "bad")
        self.assertGreater(self.check(page, q="add", status="bad"), 0)
        self.choose("device", "sim:0")
        self.assertEqual(self.check(page, q="add", status="bad", device="sim:0"), 0)
        self.choose("status", "")
        self.choose("timing", "batch")
        self.choose("suite", "tensor_ops")
        self.assertGreater(self.check(page, q="add", device="sim:0", timing="batch", suite="tensor_ops"), 0)
        self.browser.one(".controls button").click()  # Show all
        self.check(page, q="", status="", device="", timing="", suite="")
        self.assertEqual(self.browser.fragment, "")

    def test_choices_are_what_occurs(self):
        page = self.open_mixed()
        for name in ("status", "suite", "device", "timing"):
            values = {row[self.columns().index(name)] for row in page.rows(0)} - {""}
            options = self.browser.js(
                "return [...document.querySelector(`select[name=${arguments[0]}]`).options].map(o => o.value)", name)
            self.assertEqual(set(options), values | {""} | ({"bad"} if name == "status" else set()))

    def test_known_failures_are_not_among_what_is_not_right(self):
        page = self.open_mixed(fragment="#status=crash")
        self.assertGreater(self.check(page, status="crash"), self.check_after("bad", "crash", page))

    def check_after(self, status, of, page):
        self.choose("status", status)
        self.check(page, status=status)
        return len([row for row in self.expected(page, status=status) if row["status"] == of])

    def test_it_sorts_by_each_column(self):
        page = self.open_mixed()
        columns = {"Status": "status", "Case": "case_id", "Device": "device", "Timing": "timing", "Time": "time_median_s",
                   "Arithmetic": "flops_per_s", "Of limit": "fraction_of_limit", "Error / allowed": "max_bound_ratio",
                   "Noise": "noise", "Reason": "reason"}
        by_place = {(r["case_id"], r["device"]): r for r in self.expected(page)}
        for header, column in columns.items():
            for direction in ("descending", "ascending"):
                self.sort_by(header)
                table = self.table()
                self.assertEqual(table["sorted"], [[header, direction]])
                cells = [by_place[r[1], r[2]][column] for r in table["rows"]]
                full = [cell for cell in cells if cell]
                self.assertEqual(cells[:len(full)], full, "empty ones are last")
                self.assertGreater(len(full), 0)
                if header not in ("Status", "Case", "Device", "Timing", "Reason"):
                    full = [float(cell) for cell in full]
                    self.assertEqual(full, sorted(full, reverse=direction == "descending"))
                elif header not in ("Case", "Reason"):  # whose numbers sort as numbers
                    self.assertEqual(full, sorted(full, reverse=direction == "descending", key=str.lower))
            self.sort_by(header)
            self.assertEqual(self.table()["sorted"], [])
        self.sort_by("Case")
        self.sort_by("Case")
        ids = [r[1] for r in self.table()["rows"]]
        sizes = [int(i.rsplit("=", 1)[1]) for i in ids if re.fullmatch(r"tensor_ops/add/f32/n=\d+", i)]
        self.assertEqual(sizes, sorted(sizes))

    def test_it_has_pages(self):
        page = self.open_mixed()
        ids = [row[self.columns().index("case_id")] for row in page.rows(0)]
        self.assertGreater(len(ids), 100)
        last = -(-len(ids) // 100)
        seen = []
        for number in range(1, last + 1):
            table = self.table()
            self.assertEqual(table["page"], f"page {number} of {last}")
            seen += [row[1] for row in table["rows"]]
            previous, following = self.browser.all(".pager button")
            self.assertEqual((previous.is_enabled(), following.is_enabled()), (number > 1, number < last))
            if number < last:
                following.click()
                self.assertEqual(self.browser.fragment, f"page={number + 1}")
        self.assertEqual(seen, ids)
        self.browser.all(".pager button")[0].click()
        self.assertEqual(self.table()["page"], f"page {last - 1} of {last}")
        self.browser.all(".pager button")[1].click()
        self.search("sim")  # which all rows have
        self.assertEqual(self.table()["page"], f"page 1 of {last}")

    def test_links_of_the_page_filter_it(self):
        rows = [{**row, "status": "fail", "reason": "all is lost"} for row in self.real_rows()]
        self.write_run("run", rows, exit_code=1)
        self.open("run", fragment="#suite=linear&sort=-case_id")
        self.browser.click(self.browser.one("a[href='#status=bad']"))
        table = self.table()
        self.assertEqual(table["count"], f"{len(rows)} of {len(rows)} rows")
        self.assertEqual((table["controls"]["status"], table["controls"]["suite"]), ("bad", ""))
        link = self.browser.all("#correctness th a")[1]
        op = link.text
        self.browser.click(link)
        self.assertEqual(self.table()["controls"]["q"], f"{op}/")
        self.assertGreater(len(self.table()["rows"]), 0)
        self.assertTrue(self.browser.js("return document.querySelector('#results').contains(document.activeElement)"),
                        "the keyboard goes on where the reader was led")

    def test_two_runs_are_told_apart(self):
        self.write_mixed()
        self.write_run("after", self.with_times(self.real_rows(), 1.5), run_id="after")
        page = self.open("mixed", "after")
        both = len(page.rows(0)) + len(page.rows(1))
        self.assertEqual(self.table()["count"], f"{both} of {both} rows")
        self.choose("run", "2")
        self.assertEqual(self.table()["count"], f"{len(page.rows(1))} of {both} rows")
        self.assertEqual({row[1] for row in self.table()["rows"]}, {"2"})
        self.click("#table tbody a")
        self.check_dialog(page, "#row=1.0")

    def test_all_of_it_survives_in_the_url(self):
        page = self.open_mixed()
        self.search("tensor_ops n=1003")
        self.choose("device", "sim:0")
        self.sort_by("Time")
        self.sort_by("Time")
        self.click(".wide thead button")
        self.click("#table tbody a")
        chosen = (self.table(), self.browser.js(FIXED), self.wait_for_dialog())
        self.assertGreater(len(chosen[0]["rows"]), 1)
        self.assertEqual(chosen[0]["sorted"], [["Time", "ascending"]])
        url = self.browser.url
        self.browser.reload()
        self.wait_for_dialog()
        self.assertEqual((self.table(), self.browser.js(FIXED), self.dialog()), chosen)
        other = Browser(*LAPTOP)
        try:
            other.open(url)
            other.wait(lambda: other.js("return document.querySelector('dialog[open]') !== null"), "the dialog")
            self.assertEqual((other.js(TABLE_STATE), other.js(FIXED)), chosen[:2])
            self.assertEqual(other.url, url)
            self.check_silence(other)
        finally:
            other.close()
        self.assertGreater(len(page.rows(0)), 100)

    def test_a_page_of_the_table_survives_too(self):
        self.open_mixed(fragment="#page=2")
        chosen = self.table()
        self.assertTrue(chosen["page"].startswith("page 2 of"))
        self.browser.reload()
        self.assertEqual(self.table(), chosen)

    def test_an_edited_url_is_followed(self):
        page = self.open_mixed()
        self.browser.js("location.hash = '#q=add&status=fail'")
        self.browser.wait(lambda: self.table()["controls"]["q"] == "add", "the filter")
        self.check(page, q="add", status="fail")
        self.browser.js("location.hash = '#row=0.3'")
        self.check_dialog(page, "#row=0.3")
        self.browser.js("location.hash = '#'")
        self.wait_for_no_dialog()
        self.check(page)

    def test_nonsense_in_the_url_does_no_harm(self):
        page = self.open_mixed()
        rows = len(page.rows(0))
        for nonsense in ("#=", "#%E0%A4%A", "#sort=nothing&page=-3", "#page=99999", "#sort0=99d&sort1=x&sort77=1a",
                         "#<script>alert(1)</script>=1"):
            with self.subTest(nonsense):
                self.browser.open(self.folder / "report.html", nonsense)
                self.assertEqual(self.table()["count"], f"{rows} of {rows} rows")
        self.browser.open(self.folder / "report.html", "#status=nothing")
        self.assertEqual(self.table()["count"], f"0 of {rows} rows")
        for row in ("9.0", f"0.{rows}", "0.-1", "0", "x.y", "0.1.2", "0.1e1", "<b>"):
            with self.subTest(row):
                self.browser.open(self.folder / "report.html", f"#row={row}")
                self.assertEqual(self.wait_for_dialog()["title"], f"There is no row {row}.")
                self.browser.press(Keys.ESCAPE)
                self.wait_for_no_dialog()
                self.assertEqual(self.browser.fragment, "")


class Rows(PageTest):
    def links(self):
        """The first and the last link to a row in each section, as (section, index among all)."""
        return self.browser.js("""
            const all = [...document.querySelectorAll('a[href^="#row="]')];
            return [...document.querySelectorAll('main section')].flatMap(section => {
              const own = all.filter(link => section.contains(link));
              return own.length ? [[section.id, all.indexOf(own[0])], [section.id, all.indexOf(own.at(-1))]] : [];
            });""")

    def activate(self, index):
        """By the keyboard, as marks of charts are small and closed parts are not in sight."""
        return self.browser.js("""
            const link = document.querySelectorAll('a[href^="#row="]')[arguments[0]];
            for (const part of document.querySelectorAll('details')) part.open = true;
            link.focus();
            return link.getAttribute('href');""", index)

    def check_links(self, page, sections):
        links = self.links()
        self.assertEqual(sorted({section for section, _ in links}), sorted(sections))
        for section, index in links:
            with self.subTest(section, index=index):
                link = self.activate(index)
                self.browser.press(Keys.ENTER)
                self.check_dialog(page, link)
                self.browser.press(Keys.ESCAPE)
                self.wait_for_no_dialog()
                self.assertEqual(self.browser.fragment, "")
                self.assertEqual(self.browser.focus()["href"], link, "the keyboard is where it was")

    def test_figures_of_every_section_lead_to_their_rows(self):
        page = self.open_mixed()
        self.check_links(page, ["problems", "correctness", "speed", "against", "charts", "limits", "results"])

    def test_those_of_comparisons_and_histories_too(self):
        self.write_paired()
        self.write_history()
        page = self.open("paired", "runs")
        self.check_links(page, ["paired", "history", "correctness", "speed", "charts", "results"])

    def test_a_mark_of_a_chart_can_be_clicked(self):
        page = self.open_mixed()
        mark = self.browser.all("#charts svg a")[3]
        link = self.browser.js("return arguments[0].getAttribute('href')", mark)
        self.browser.click(mark)
        self.check_dialog(page, link)

    def test_the_dialog_begins_at_its_top_and_closes(self):
        for size in (LAPTOP, PHONE):
            self.browser.resize(*size)
            self.open_mixed(fragment="#row=0.0") if size == LAPTOP else self.browser.reload()
            self.wait_for_dialog()
            top, height, width = self.browser.js("""
                const box = document.querySelector('#row-title').getBoundingClientRect();
                const d = document.querySelector('dialog');
                return [box.top, innerHeight, d.scrollWidth - d.clientWidth];""")
            self.assertTrue(0 <= top < height / 2, f"the title is at {top}")
            self.assertLessEqual(width, 0, "the dialog scrolls sideways")
        self.browser.js("[...document.querySelectorAll('dialog button')].find(b => b.textContent === 'Close').click()")
        self.wait_for_no_dialog()

    def pasted(self):
        """What the clipboard holds, through a text area that takes lines."""
        self.browser.js("""const area = document.createElement('textarea'); area.id = 'paste';
            (document.querySelector('dialog[open]') ?? document.body).append(area); area.focus();""")
        self.browser.press_with(Keys.CONTROL, "v")
        text = self.browser.js("const area = document.getElementById('paste'); area.remove(); return area.value;")
        return text

    def copy_with(self, button):
        """Clicks and waits until the button has said that it has copied, which it does not say for long."""
        self.browser.js("""
            const button = arguments[0];
            window.hasSaid = false;
            new MutationObserver(() => { window.hasSaid ||= button.textContent === 'Copied'; })
                .observe(button, {childList: true, characterData: true, subtree: true});""", button)
        self.browser.click(button)
        self.browser.wait(lambda: self.browser.js("return window.hasSaid"), "Copied")

    def test_commands_and_rows_are_copied(self):
        page = self.open_mixed()
        replay = self.columns().index("replay")
        for refuse in (False, True):  # browsers may refuse files the clipboard
            if refuse:
                self.browser.js("navigator.clipboard.writeText = () => Promise.reject(new Error('refused'));")
            with self.subTest(refuse=refuse):
                button = self.browser.all("#problems .copy")[1 if refuse else 0]
                command = self.browser.js("return arguments[0].dataset.copy", button)
                self.assertIn(command, [row[replay] for row in page.rows(0)])
                self.copy_with(button)
                self.assertEqual(self.pasted(), command)
                self.activate(5)
                self.browser.press(Keys.ENTER)
                shown = self.wait_for_dialog()
                for i, copied in enumerate(shown["copies"]):
                    self.copy_with(self.browser.all("dialog .copy")[i])
                    self.assertEqual(self.pasted(), copied)
                self.assertEqual(shown["copies"][0], shown["cells"][shown["names"].index("replay")])
                line = page.files()[0][1].decode("utf-8").split("\n")
                self.assertIn(shown["copies"][1], line)
                self.browser.press(Keys.ESCAPE)
                self.wait_for_no_dialog()

    def test_a_copy_button_gets_its_name_back(self):
        self.open_mixed()
        button = self.browser.all("#problems .copy")[0]
        self.copy_with(button)
        self.browser.click(button)
        self.browser.wait(lambda: button.text == "Copy", "its name")
        time.sleep(1.6)  # another one might be under way
        self.assertEqual(button.text, "Copy")


class Keyboard(PageTest):
    def test_a_keyboard_alone_suffices(self):
        page = self.open_mixed()
        self.browser.press(Keys.TAB)
        self.assertEqual(self.browser.focus()["href"], "#content")
        self.assertGreaterEqual(self.browser.js("return document.activeElement.getBoundingClientRect().left"), 0)
        self.browser.tab_to(lambda f: f["href"] == "#correctness", 20)
        self.check_outline()
        self.browser.press(Keys.ENTER)
        self.browser.tab_to(lambda f: f["name"] == "button" and f["text"] == "Op", 10)
        self.check_outline()
        self.browser.press(Keys.ENTER)
        self.browser.press(Keys.SPACE)
        self.assertIn("ascending", [s for t in self.browser.js(FIXED) for s in t["sorted"]])
        self.browser.tab_to(lambda f: f["href"].startswith("#row="), 60)
        self.check_outline()
        link = self.browser.focus()["href"]
        self.browser.press(Keys.ENTER)
        shown = self.wait_for_dialog()
        self.assertEqual(shown["said"].split(" of ")[0], f"Row {int(link.split('.')[1]) + 1}")
        for _ in range(8):  # the page behind is out of reach
            self.browser.press(Keys.TAB)
            self.assertTrue(self.browser.js("""return document.activeElement === document.body ||
                document.querySelector('dialog').contains(document.activeElement)"""))
        self.browser.press(Keys.ESCAPE)
        self.wait_for_no_dialog()
        self.assertEqual(self.browser.focus()["href"], link)
        self.assertGreater(len(page.rows(0)), 0)

    def test_the_table_of_results_too(self):
        self.open_mixed()
        self.browser.press(Keys.TAB)
        self.browser.tab_to(lambda f: f["href"] == "#results", 20)
        self.browser.press(Keys.ENTER)
        self.browser.tab_to(lambda f: f["field"] == "q", 5)
        self.browser.press("add")
        self.browser.tab_to(lambda f: f["field"] == "status", 5)
        self.check_outline()
        self.browser.press("fail")
        self.browser.tab_to(lambda f: f["text"] == "Case", 20)
        self.browser.press(Keys.SPACE)
        table = self.table()
        self.assertEqual((table["controls"]["q"], table["controls"]["status"]), ("add", "fail"))
        self.assertEqual(table["sorted"], [["Case", "descending"]])
        self.assertEqual({row[0] for row in table["rows"]}, {"✗ fail"})

    def check_outline(self):
        style, width = self.browser.js("""const s = getComputedStyle(document.activeElement);
            return [s.outlineStyle, parseFloat(s.outlineWidth)];""")
        self.assertNotEqual(style, "none")
        self.assertGreaterEqual(width, 2)


class NoScripts(PageTest):
    def open_quietly(self, *runs):
        page = self.report(*runs)
        with self.browser.no_scripts():
            self.browser.open(self.folder / "report.html", wait=False)
        self.assertEqual(self.browser.js("return document.documentElement.className"), "")
        return page

    def seen(self, selector):
        """How many such elements take room on the page."""
        return self.browser.js("""return [...document.querySelectorAll(arguments[0])].map(e => e.getBoundingClientRect())
            .filter(box => box.width > 1 && box.height > 1 && box.left >= 0).length""", selector)

    def test_what_matters_is_there(self):
        self.write_mixed()
        page = self.open_quietly("mixed")
        for section in page.sections():
            self.assertEqual(self.seen(f"#{section}"), 1, section)
        self.assertEqual(self.seen(".verdict.failed"), 1)
        self.assertGreater(self.seen("#problems li"), 3)
        self.assertGreater(self.seen("#correctness td.cell.right"), 3)
        self.assertGreater(self.seen("#correctness td.cell.wrong"), 0)
        self.assertGreater(self.seen("#correctness td.cell.skip"), 0)
        self.assertGreater(self.seen("#charts svg"), 2)
        self.assertGreater(self.seen("#charts svg path"), 10)
        self.assertGreater(self.seen("#environment tr"), 5)
        self.assertGreater(self.seen("#speed td.number"), 5)
        self.assertEqual(self.seen("a.file"), 2)
        self.assertEqual(self.seen("noscript p"), 1)
        self.assertEqual(self.seen(".copy, #table *, dialog"), 0, "what does nothing is not shown")

    def test_comparisons_and_histories_too(self):
        self.write_paired()
        self.write_history()
        self.open_quietly("paired", "runs")
        self.assertGreater(self.seen("#paired svg"), 3)
        self.assertGreater(self.seen("#history svg circle"), 24)


class Layout(PageTest):
    def check_width(self, width, media=""):
        overflow, cut = self.browser.js("""return [document.documentElement.scrollWidth, (() => {%s})()];""" % CUT)
        self.assertEqual(cut, [], media)
        self.assertLessEqual(overflow, width)

    def test_nothing_sticks_out_on_a_phone(self):
        self.browser.resize(*PHONE, mobile=True)
        def check(*_):
            self.browser.js("for (const part of document.querySelectorAll('details')) part.open = true;")
            self.check_width(PHONE[0])
        self.for_all_kinds(check)

    def test_nor_on_a_laptop(self):
        self.for_all_kinds(lambda *_: self.check_width(LAPTOP[0]))

    def test_a_header_stands_as_the_numbers_below_it(self):
        def check(name, _):
            self.browser.js("for (const part of document.querySelectorAll('details')) part.open = true;")
            wrong, columns = self.browser.js("""
                const wrong = []; let columns = 0;
                for (const table of document.querySelectorAll('table')) {
                  const headers = [...table.querySelectorAll('thead th')];
                  const body = [...table.querySelectorAll('tbody tr:not(.axis)')];
                  headers.forEach((header, at) => {
                    const cells = body.map(row => row.children[at]).filter(cell => cell?.textContent);
                    if (!cells.length || !cells.every(cell => cell.classList.contains('number'))) return;
                    columns += 1;
                    const of = header.querySelector('button') ?? header;
                    if (getComputedStyle(of).textAlign !== getComputedStyle(cells[0]).textAlign) wrong.push(header.textContent);
                  });
                }
                return [wrong, columns];""")
            self.assertEqual(wrong, [], name)
            self.assertEqual(columns > 0, name != "empty", name)
        self.for_all_kinds(check)

    def test_nothing_is_cut_in_print(self):
        def check(_, page):
            self.browser.emulate(media="print")
            self.browser.js("for (const part of document.querySelectorAll('details')) part.open = true;")
            self.check_width(A4[0], "print")
            self.assertEqual(self.browser.js("""return [...document.querySelectorAll('nav, .copy, .controls, .pager')]
                .filter(e => e.getClientRects().length).length"""), 0)
            pdf = self.browser.pdf()
            self.assertTrue(pdf.startswith(b"%PDF-"))
            self.assertGreaterEqual(len(re.findall(rb"/Type\s*/Page\b", pdf)), 1 + ("charts" in page.sections()))
            self.browser.emulate()
        self.browser.resize(*A4)
        self.for_all_kinds(check)

    def test_no_text_leaves_its_chart(self):
        long_name = "a_long_name_of_an_op_that_is_told_apart_at_its_end_only"
        rows = [row for row in self.with_times(self.real_rows()) if row["op"] == "copy"]
        for i, row in enumerate(rows):
            row.update(op=long_name, case_id=f"tensor_ops/{long_name}/f32/n={i}", bytes=str(1000 * i))

        def check(name, _):
            cut = self.browser.js("""return [...document.querySelectorAll('svg text')].filter(t => {
                const box = t.getBBox(), view = t.closest('svg').viewBox.baseVal;
                return box.x < -1 || box.x + box.width > view.width + 1 || box.y < -1 ||
                       box.y + box.height > view.height + 3;
              }).map(t => t.firstChild.data)""")
            if name != "hostile":  # whose letters are wider than any mean
                self.assertEqual(cut, [])
        self.for_all_kinds(check)
        self.write_run("long", rows)
        page = self.open("long")
        self.assertTrue(any(text.startswith("tensor_ops/a_long_name") for text in page.texts("text", class_="title")))
        check("long", page)

    def test_four_devices_fit_in_print(self):
        rows = self.with_times(self.real_rows())
        rows = rows + [{**row, "device": row["device"].replace("0", "2").replace("1", "3")} for row in rows]
        devices = self.real_rows("devices.csv")
        devices += [{**device, "device": name} for device, name in zip(devices, ("sim:2", "sim:3"))]
        self.write_run("four", rows, devices, self.limits_of("sim:0", "sim:1", "sim:2", "sim:3"))
        self.browser.resize(*A4)
        self.open("four")
        self.browser.emulate(media="print")
        self.check_width(A4[0], "print")

    def test_paper_is_light_whatever_the_screen_is(self):
        self.browser.emulate("dark", "print")
        self.open_mixed()
        backgrounds = self.browser.js("""return [getComputedStyle(document.documentElement).backgroundColor,
            ...[...document.querySelectorAll('svg .paper')].map(e => getComputedStyle(e).fill)]""")
        self.assertEqual(set(backgrounds), {"rgb(255, 255, 255)"})


class Contrast(PageTest):
    def check(self, scheme):
        self.browser.emulate(scheme)
        is_dark = self.browser.js("""return getComputedStyle(document.documentElement).backgroundColor""")
        self.assertEqual(is_dark == "rgb(255, 255, 255)", scheme == "light")
        found = self.browser.js(CONTRAST)
        self.assertGreater(len(found), 4)
        self.assertEqual([f for f in found if f["value"] < f["least"]], [])
        return " ".join(f["what"] for f in found)

    def test_text_and_marks_stand_out_in_both_schemes(self):
        def check(name, _):
            for scheme in ("light", "dark"):
                checked = self.check(scheme)
                if name in ("mixed", "two"):
                    for what in ("b.null: text", "status wrong", "placeholder", "small.mark", "path.s1: mark", "edge"):
                        self.assertIn(what, checked)
        self.for_all_kinds(check)

    def test_the_dialog_too(self):
        self.open_mixed(fragment="#row=0.0")
        self.wait_for_dialog()
        for scheme in ("light", "dark"):
            self.check(scheme)


class Accessible(PageTest):
    NAMED = {"image", "link", "button", "searchbox", "combobox", "dialog", "table", "region", "navigation",
             "heading", "DisclosureTriangle"}

    def test_everything_has_a_name(self):
        def check(name, _):
            nodes = self.browser.accessible()
            self.assertEqual([node for node in nodes if not node.name and (node.role in self.NAMED or node.focusable)], [])
            roles = {node.role for node in nodes}
            self.assertLessEqual({"main", "banner", "navigation", "contentinfo", "heading", "region"}, roles)
            if name == "mixed":
                self.assertLessEqual({"image", "group", "link", "button", "searchbox", "combobox", "table", "search",
                                      "status"}, roles)
        self.for_all_kinds(check)

    def test_svgs_have_titles_and_links_are_not_within_images(self):
        def check(*_):
            self.assertEqual(self.browser.js("""return [...document.querySelectorAll('svg')].filter(
                s => s.firstElementChild?.localName !== 'title' || !s.firstElementChild.textContent).length"""), 0)
            # What is within an image is not there for a screen reader.
            self.assertEqual(self.browser.js("return document.querySelectorAll('[role=img] a').length"), 0)
        self.for_all_kinds(check)

    def test_fields_have_labels(self):
        self.open_mixed()
        self.assertEqual(self.browser.js("""return [...document.querySelectorAll('input, select')].map(
            e => [...e.labels].map(l => l.firstChild.textContent).join())"""),
            ["Search", "Status", "Suite", "Device", "Timing"])

    def test_headings_are_in_order_and_ids_are_unique(self):
        def check(*_):
            levels = self.browser.js("""return [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
                .filter(h => !h.closest('dialog')).map(h => Number(h.localName[1]))""")
            self.assertEqual((levels[0], levels.count(1)), (1, 1))
            for above, level in zip(levels, levels[1:]):
                self.assertLessEqual(level, above + 1)
            ids = self.browser.js("return [...document.querySelectorAll('[id]')].map(e => e.id)")
            self.assertEqual(len(ids), len(set(ids)))
        self.for_all_kinds(check)

    def test_the_open_dialog_has_a_name(self):
        self.open_mixed(fragment="#row=0.0")
        title = self.wait_for_dialog()["title"]
        self.assertIn(("dialog", title), [(node.role, node.name) for node in self.browser.accessible()])


class Hostile(PageTest):
    def check_nothing_ran(self, elements):
        self.assertEqual(self.browser.js("""return [document.scripts.length, document.querySelectorAll('style').length,
            ...['img', 'iframe', 'base', 'link', 'object'].map(n => document.querySelectorAll(n).length)]"""),
            [1, 1, 0, 0, 0, 0, 0])
        self.assertEqual(self.browser.js("""return [...document.querySelectorAll('*')].filter(
            e => [...e.attributes].some(a => a.name.startsWith('on'))).length"""), 0)
        self.assertLess(self.browser.js("return document.querySelectorAll('b').length"), elements)

    def test_all_text_stays_text(self):
        self.write_hostile()
        page = self.open("hostile")
        self.check_nothing_ran(4)
        shown = self.browser.js("return document.body.textContent")
        for text in HOSTILE:
            self.assertIn(text, shown)
        table = self.table()
        self.assertEqual([row[1] for row in table["rows"]], [row[5] for row in page.rows(0)])
        place = self.columns().index("reason")
        self.assertEqual([row[-1] for row in table["rows"]], [row[place] for row in page.rows(0)])

    def test_rows_are_shown_and_copied_as_they_are(self):
        self.write_hostile()
        page = self.open("hostile")
        for number in range(len(HOSTILE), 2 * len(HOSTILE)):
            with self.subTest(HOSTILE[number - len(HOSTILE)]):
                self.browser.js("location.hash = `#row=0.${arguments[0]}`", number)
                self.browser.wait(lambda n=number: f"Row {n + 1} of" in str(self.dialog()), "its row")
                shown = self.check_dialog(page, f"#row=0.{number}")
                self.assertEqual(shown["copies"][0], page.rows(0)[number][self.columns().index("replay")])
                self.assertIn(shown["copies"][1] + "\n", page.files()[0][1].decode("utf-8"))
        self.check_nothing_ran(4)

    def test_what_is_searched_for_is_text(self):
        self.write_hostile()
        self.open("hostile")
        for text in (text for text in HOSTILE if "\n" not in text):  # a field of one line cannot have it
            self.browser.js("""const field = document.querySelector('.controls input');
                field.value = arguments[0]; field.dispatchEvent(new Event('input'));""", text)
            self.browser.reload()
            rows = self.table()["rows"]
            self.assertGreater(len(rows), 0, text)
        self.check_nothing_ran(4)

    def test_names_of_devices_and_folders(self):
        rows = self.with_times(self.real_rows())
        odd = {"sim:0": "<img src=x onerror=alert(1)>", "sim:1": "a,b \"c\" 'd'"}
        rows = [{**row, "device": odd[row["device"]]} for row in rows if row["device"] in odd]
        devices = [{**device, "device": odd[device["device"]]} for device in self.real_rows("devices.csv")]
        try:
            self.write_run("<script>alert(1)<;script>", rows, devices)
            self.open("<script>alert(1)<;script>")
        except AssertionError as refused:  # names that the engine does not know may be refused
            self.assertIn("device", str(refused))
            self.write_run("again <script>alert(1)<;script>")
            self.open("again <script>alert(1)<;script>")
        self.check_nothing_ran(4)
        self.assertIn("<script>alert(1)<;script>-results.csv", self.browser.texts("a.file")[0].replace("/", "-"))


class Many(PageTest):
    ROWS = 100_000

    def write_many(self):
        real = self.with_times(self.real_rows())
        rows = []
        for i in range(self.ROWS):
            row = real[i % len(real)]
            rows.append({**row, "case_id": f"{row['case_id']},copy={i // len(real)}",
                         "max_bound_ratio": repr(self.random.random())})
        self.write_run("many", rows, exit_code=1)
        return rows

    def test_a_hundred_thousand_rows(self):
        """Each step has the browser's patience, which a page that froze would exhaust."""
        rows = self.write_many()
        page = self.open("many")
        self.assertEqual(self.table()["count"], f"{self.ROWS} of {self.ROWS} rows")
        self.assertLess(self.browser.js("return document.querySelectorAll('tr').length"), 5000)
        self.search("copy=77 /exp/")
        wanted = [row for row in rows if "copy=77" in row["case_id"] and "/exp/" in row["case_id"]]
        self.assertEqual(self.table()["count"], f"{len(wanted)} of {self.ROWS} rows")
        self.assertEqual([row[1] for row in self.table()["rows"]], [row["case_id"] for row in wanted[:100]])
        self.browser.one(".controls button").click()
        for header in ("Case", "Time"):
            self.sort_by(header)
            self.assertEqual(len(self.table()["rows"]), 100)
        self.sort_by("Time")
        self.sort_by("Time")
        self.browser.js("location.hash = '#page=1000'")
        self.browser.wait(lambda: self.table()["page"] == "page 1000 of 1000", "the last page")
        self.assertEqual(self.table()["rows"][-1][1], rows[-1]["case_id"])
        self.browser.js("location.hash = arguments[0]", f"#row=0.{self.ROWS - 1}")
        self.check_dialog(page, f"#row=0.{self.ROWS - 1}")


if __name__ == "__main__":
    unittest.main()
