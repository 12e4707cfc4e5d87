"""The table of all results in a real browser: filters, sorting, pages, and all of it in the URL."""
import re
import unittest

from selenium.webdriver.common.keys import Keys

from browser import Browser
from page_browser import FIXED, LAPTOP, TABLE_STATE, PageTest

BAD = {"fail", "vacuous", "flaky", "timeout", "crash", "oom", "device_lost", "error"}


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
        # A cause each: more than the page shows.
        letters = "abcdefghijklmnopqrstuvwxyz"
        rows = [{**row, "status": "fail", "reason": f"{letters[i % 26]}{letters[i // 26]} is lost", "worst_index": ""}
                for i, row in enumerate(self.real_rows())]
        self.write_run("run", rows, exit_code=1)
        self.open("run", fragment="#suite=linear&sort=-case_id")
        self.click("a[href='#status=bad']")
        table = self.table()
        self.assertEqual(table["count"], f"{len(rows)} of {len(rows)} rows")
        self.assertEqual((table["controls"]["status"], table["controls"]["suite"]), ("bad", ""))
        self.click("#correctness summary")
        link = self.browser.all("#correctness th a")[1]
        op = link.text
        self.browser.click(link)
        self.assertEqual(self.table()["controls"]["q"], f"{op}/")
        self.assertGreater(len(self.table()["rows"]), 0)
        self.assertTrue(self.browser.js("return document.querySelector('#results').contains(document.activeElement)"),
                        "the keyboard goes on where the reader was led")

    def is_at(self, section):
        """Whether the heading of a section is in sight, and the keyboard goes on from there."""
        return self.browser.js("""
            const top = document.getElementById(arguments[0]).getBoundingClientRect().top;
            return top >= 0 && top < innerHeight && document.activeElement.closest('section')?.id === arguments[0];""", section)

    def test_a_url_that_chooses_rows_leads_to_them(self):
        self.open_mixed()
        self.assertFalse(self.is_at("results"), "a page opens at its top")
        for fragment in ("#status=bad", "#sort=-fraction_of_limit", "#q=add&device=sim:0"):
            with self.subTest(fragment):
                self.browser.open(self.folder / "report.html", fragment)
                self.assertTrue(self.is_at("results"))
        self.browser.open(self.folder / "report.html")
        self.browser.js("location.hash = '#status=bad'")
        self.browser.wait(lambda: self.is_at("results"), "the table of results")

    def test_a_reader_who_is_elsewhere_stays_there(self):
        self.open_mixed()
        self.click("a[href='#correctness']")
        self.assertTrue(self.is_at("correctness"))
        self.browser.js("location.hash = '#status=bad'")
        self.browser.wait(lambda: self.table()["controls"]["status"] == "bad", "the filter")
        self.assertTrue(self.is_at("correctness"))

    def test_empty_shares_of_the_limit_are_last_whichever_way(self):
        rows = self.with_times(self.real_rows())
        for row in rows[::2]:
            row.update(fraction_of_limit="", limit="")
        self.write_run("run", rows, exit_code=1)
        self.open("run")
        share = len(self.browser.all("#table thead th")) - 4
        for direction in ("descending", "ascending"):
            self.sort_by("Of limit")
            self.assertEqual(self.table()["sorted"], [["Of limit", direction]])
            shares = [row[share] for row in self.table()["rows"]]
            full = [float(text.rstrip("%")) for text in shares if text]
            self.assertEqual(shares[:len(full)].count(""), 0)
            self.assertTrue(0 < len(full) < len(shares))
            self.assertEqual(full, sorted(full, reverse=direction == "descending"))

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


if __name__ == "__main__":
    unittest.main()
