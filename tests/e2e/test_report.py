"""`assay report`: what it refuses, and what stands in the page, read without a browser."""
import csv
import io
import re
import unittest

from pages import HOSTILE, ReportTest

ONE_RUN = ["verdict", "problems", "correctness", "speed", "charts", "environment", "limits", "bits", "results"]
FETCHING = ("src", "srcset", "action", "formaction", "poster", "background", "data", "cite", "ping", "xlink:href",
            "manifest")


def results_of(folder):
    return (folder / "results.csv").read_bytes()


class Refusals(ReportTest):
    def refused(self, *arguments, because):
        result = self.assay("report", *arguments, expect=2)
        self.assertEqual(result.stdout, "")
        self.assertIn(because, result.stderr)
        self.assertEqual(list(self.folder.glob("*.html")), [], "a refused page is not written")

    def test_what_is_no_run(self):
        self.refused(because="RUN")
        self.refused("nowhere", because="'nowhere'")
        (self.folder / "empty").mkdir()
        self.refused("empty", because="'empty'")
        (self.folder / "plain").write_text("text", encoding="utf-8")
        self.refused("plain", because="'plain'")
        self.write_run("run")
        self.refused("run", "nowhere", because="'nowhere'")

    def test_a_damaged_run_is_named(self):
        damages = {
            "run.json": lambda run: (run / "run.json").write_text("{"),
            "results.csv:1": lambda run: (run / "results.csv").write_text("schema_version,case_id\n1,a\n"),
            "results.csv": lambda run: (run / "results.csv").unlink(),
            "devices.csv": lambda run: (run / "devices.csv").write_text("name\nx,y\n"),
            "limits.csv": lambda run: (run / "limits.csv").write_text("limit\nx,y\n"),
        }
        for i, (file, damage) in enumerate(damages.items()):
            with self.subTest(file, i=i):
                damage(self.write_run(f"run{i}"))
                self.refused(f"run{i}", because=f"run{i}/{file}")
        (self.write_paired("paired0") / "ab.json").write_text("{}")
        self.refused("paired0", because="paired0/ab.json")
        (self.write_paired("paired1") / "ab.csv").unlink()
        self.refused("paired1", because="paired1/ab.csv")

    def test_options(self):
        self.write_run("run")
        self.refused("run", "--baseline", "cuda:0", because="unknown column 'cuda:0'")
        self.refused("run", "--margin", "-1", because="--margin")
        self.refused("run", "--margin", "nan", because="--margin")

    def test_a_page_that_cannot_be_written_is_said(self):
        self.write_run("run")
        (self.folder / "taken").mkdir()
        for out in ("taken", "nowhere/report.html"):
            self.assertIn(out, self.assay("report", "run", "-o", out, expect=2).stderr)


class Written(ReportTest):
    def test_the_page_stands_in_report_html_unless_named(self):
        self.write_run("run")
        result = self.assay("report", "run")
        self.assertEqual(result.stdout, "")
        self.assertIn("report.html: ", result.stderr)
        self.assertTrue((self.folder / "report.html").read_bytes().startswith(b"<!DOCTYPE html>\n<html lang=\"en\">"))

    def test_it_replaces_what_stood_there_and_leaves_nothing_beside_it(self):
        self.write_run("run")
        self.report("run", out="page.html")
        with open(self.folder / "page.html", "a", encoding="utf-8") as page:
            page.write("old")
        self.report("run", out="page.html")
        self.assertFalse((self.folder / "page.html").read_text(encoding="utf-8").endswith("old"))
        self.assertEqual(sorted(path.name for path in self.folder.iterdir() if path.name != "locks"), ["page.html", "run"])

    def test_the_exit_code_is_no_verdict(self):
        self.write_run("run", exit_code=1)
        self.assertIn("✗ FAILED", self.report("run").texts("b"))

    def test_the_same_run_gives_the_same_page(self):
        self.write_mixed()
        self.assertEqual(self.report("mixed").text, self.report("mixed", out="again.html").text)


class Sections(ReportTest):
    def check_menu(self, page):
        """Each section is in the menu, and the menu names nothing else."""
        menu = [a["href"] for _, a, _ in page.all("a") if a.get("href") in {f"#{s}" for s in page.sections()}]
        self.assertEqual(sorted(menu), sorted(f"#{s}" for s in page.sections()))
        ids = [a["id"] for _, a, _ in page.elements if "id" in a]
        self.assertEqual(len(ids), len(set(ids)))

    def check_rows(self, page):
        """Each link to a row leads to one."""
        counts = [len(page.rows(i)) for i in range(len(page.files()))]
        links = page.row_links()
        self.assertGreater(len(links), 0)
        for file, row in links:
            self.assertLess(file, len(counts))
            self.assertLess(row, counts[file], f"#row={file}.{row}")

    def page(self, *arguments, sections, **options):
        page = self.report(*arguments, **options)
        self.assertEqual(page.sections(), sections)
        self.check_menu(page)
        self.check_rows(page)
        return page

    def test_one_run(self):
        self.write_mixed()
        page = self.page("mixed", sections=["verdict", "problems", "correctness", "figures", "speed", "against", "charts",
                                            "environment", "limits", "bits", "results"])
        said = page.said()
        for text in ("✗ FAILED", "a note of the run", "sim:0 (simulated)", "sim:1 (simulated)", "known failure",
                     "the worker ended: ", "memory_triad"):
            self.assertIn(text, said)
        self.assertTrue(any(text.startswith("Worst: ") and " at [" in text for text in page.texts("p")))
        self.assertGreater(len(page.all("svg", class_="chart")), 3)

    def test_one_device_is_held_against_nothing(self):
        rows = [row for row in self.with_times(self.real_rows()) if row["device"] == "sim:0"]
        self.write_run("run", rows, self.real_rows("devices.csv")[:1], self.limits_of("sim:0"))
        self.page("run", sections=ONE_RUN)

    def test_links_of_cases_lead_to_their_own_row(self):
        self.write_mixed()
        page = self.report("mixed")
        place = next(csv.reader(io.StringIO(self.real["results.csv"]))).index("case_id")
        rows = page.rows(0)
        shown = 0
        for _, attributes, text in page.all("a"):
            if attributes.get("href", "").startswith("#row=0.") and text.startswith("tensor_ops/") and "=" in text:
                self.assertEqual(rows[int(attributes["href"][7:])][place], text)
                shown += 1
        self.assertGreater(shown, 10)

    def test_two_runs(self):
        self.write_run("before", self.with_times(self.real_rows()))
        worse = self.with_times(self.real_rows(), factor=1.5)
        broken = next(row for row in worse if row["status"] == "pass")
        broken.update(status="fail", reason="since yesterday")
        self.write_run("after", worse, run_id="after", environment={"OMP_PROC_BIND": "close"})
        page = self.page("before", "after", "--baseline", "sim:0 of run 1",
                         sections=["verdict", "problems", "correctness", "figures", "speed", "against", "charts", "environment",
                                   "bits", "results"])
        self.assertIn("Results of after that differ from before: 1", page.texts("h3"))
        self.assertIn("since yesterday", page.texts("td"))
        self.assertIn("differs", page.texts("small"))
        self.assertIn("What differs between the runs", page.texts("caption"))
        self.assertEqual([name for name, _ in page.files()], ["before-results.csv", "after-results.csv"])
        (title,) = page.texts("h1")
        ratio = re.search(r"sim:[01] \(simulated\) of after is (1\.\d\d)× slower than sim:0 \(simulated\) of before", title)
        self.assertTrue(ratio and 1.4 < float(ratio[1]) < 1.6, title)

    def test_paired(self):
        self.write_paired()
        page = self.page("paired", sections=["verdict", "paired", "results"])
        said = page.said()
        for text in ("✗ FAILED", "regressed", "improved", "the base has no such op", "OMP_NUM_THREADS=2", "of this test",
                     "a note"):
            self.assertIn(text, said)
        self.assertEqual([text for text in page.texts("td") if text in ("▲ regressed", "▼ improved", "equivalent", "added")],
                         ["added", "▲ regressed", "▼ improved", "equivalent"])
        self.assertIn("1 case is slower: tensor_ops/add/f32/n=1 by 20.0%", page.texts("h1"))
        self.assertGreaterEqual(len(page.all("line", class_="limit")), 6, "the margin is drawn")

    def test_a_folder_of_runs(self):
        self.write_history()
        page = self.page("runs", sections=["verdict", "history", *ONE_RUN[1:-3], "results"])
        self.assertIn("History: 24 runs", page.texts("h2"))
        (title,) = page.texts("h1")
        self.assertRegex(title, r"^\d+ changes in 24 runs: \w+ \+(19|20|21)")
        self.assertIn("r23", page.texts("h2"))  # the newest run is the one that is shown
        self.assertGreater(len(page.all("circle", class_="point")), 24)
        self.assertTrue(any("% slower" in text for text in page.texts("td")))

    def test_everything_at_once(self):
        self.write_mixed()
        self.write_paired()
        self.write_history()
        page = self.report("mixed", "paired", "runs")
        self.check_menu(page)
        self.check_rows(page)
        self.assertEqual(page.sections()[:4], ["verdict", "paired", "history", "problems"])


class LargestCase(ReportTest):
    def test_console_and_page_show_the_same(self):
        product = "linear/f32/batch=256,in=256,out=256,bias=1,act="
        acts = ("none", "relu", "gelu")
        said = self.assay("run", *(word for act in acts for word in ("--case", product + act)), "--device", "cpu",
                          "--no-limits", "--out", "run").stderr
        (shown,) = [text.split()[1] for text in self.report("run").texts("small", class_="below") if "batch=256;" in text]
        self.assertEqual([act for act in acts if shown.endswith(f"act={act}")], ["gelu"], "of equal work the last")
        (line,) = [line for line in said.splitlines() if " linear/f32 " in line]
        self.assertTrue(line.endswith(f"  {shown}"), line)


class Odd(ReportTest):
    def test_only_failures(self):
        rows = [{**row, "status": "fail", "reason": "all is lost"} for row in self.real_rows() if row["timing"] == ""]
        self.write_run("run", rows, exit_code=1)
        page = self.report("run")
        self.assertEqual(page.sections(), ["verdict", "problems", "correctness", "environment", "results"])
        (title,) = [text for text in page.texts("h2") if text.startswith("What is wrong: ")]
        results, causes = map(int, re.findall(r"\d+", title))
        self.assertEqual(results, len(rows))
        self.assertGreaterEqual(causes, len({(row["device"], row["op"]) for row in rows}))
        self.assertEqual(len(page.all("article", class_="problem")), causes)
        self.assertEqual(len(page.all("button", class_="copy")), causes, "one command for each cause")

    def test_only_skips_are_not_green(self):
        rows = [{**row, "status": "skip", "reason": "too little memory", "timing": ""} for row in self.real_rows()[:20]]
        self.write_run("run", rows, exit_code=3)
        page = self.report("run")
        self.assertEqual(page.all("section", class_="passed"), [])
        self.assertIn("20 skip", page.said())

    def test_no_row_at_all(self):
        self.write_run("run", [], ended_at=None)
        page = self.report("run")
        self.assertEqual(page.all("section", class_="passed"), [])
        self.assertEqual(page.sections(), ["verdict", "problems", "environment", "results"])
        self.assertEqual(page.rows(0), [])

    def test_a_run_that_was_killed(self):
        folder = self.write_mixed()
        whole = results_of(folder)
        with open(folder / "results.csv", "ab") as file:
            file.write(b'1,torn,"')
        self.write_run("unended", ended_at=None)
        with open(self.folder / "unended" / "results.csv", "ab") as file:
            file.write(b'1,torn,"')
        page = self.report("unended")
        self.assertIn("none: not ended", page.texts("dd"))
        self.assertEqual(page.all("section", class_="passed"), [])
        self.assertNotIn(b"torn", page.files()[0][1])
        self.assertTrue(page.files()[0][1].endswith(b"\n"))
        self.assertIn("results.csv", self.assay("report", "mixed", expect=2).stderr, "one that ended is not torn")
        self.assertTrue(whole.endswith(b"\n"))


class Hostile(ReportTest):
    def test_all_text_stays_text(self):
        self.write_hostile()
        page = self.report("hostile")
        said = page.said()
        for text in HOSTILE:
            self.assertIn(text, said)
        self.assertEqual(len(page.all("script")), 1)
        self.assertEqual(len(page.all("style")), 1)
        self.assertEqual(page.all("img"), [])
        self.assertEqual([a for _, a, _ in page.elements if any(name.startswith("on") for name in a)], [])
        copied = [a["data-copy"] for _, a, _ in page.elements if "data-copy" in a]  # in attributes too
        self.assertGreater(len({c for c in copied if c.removeprefix("assay run --case ") in HOSTILE}), len(HOSTILE) - 3)

    def test_names_of_files_and_folders(self):
        for i, name in enumerate(("<b>&\"'", "a,b c", "#row=1.1", "ü漢🎉", "-o")):
            with self.subTest(name):
                self.write_run(f"{i}/{name}")
                page = self.report(f"./{i}/{name}")
                self.assertEqual(page.files()[0][0], f"{name}-results.csv")
                self.assertEqual(page.all("b", class_="x"), [])

    def test_bytes_that_are_no_text(self):
        folder = self.write_run("run")
        results = results_of(folder)
        (folder / "results.csv").write_bytes(results.replace(b"the worker ended", b"the worker \xff\x01\x00"))
        self.assertIn("must be text in UTF-8", self.assay("report", "run", expect=2).stderr)


class Embedded(ReportTest):
    def test_the_files_are_in_it_byte_for_byte(self):
        mixed, hostile, paired = self.write_mixed(), self.write_hostile(), self.write_paired()
        page = self.report("mixed", "hostile", "paired")
        files = dict(page.files())
        self.assertEqual(list(files), ["mixed-results.csv", "hostile-results.csv", "mixed-limits.csv", "paired-ab.csv"])
        self.assertEqual(files["mixed-results.csv"], results_of(mixed))
        self.assertEqual(files["hostile-results.csv"], results_of(hostile))
        self.assertEqual(files["mixed-limits.csv"], (mixed / "limits.csv").read_bytes())
        self.assertEqual(files["paired-ab.csv"], (paired / "ab.csv").read_bytes())
        for _, attributes, _ in page.all("a", class_="file"):
            self.assertTrue(attributes["download"].endswith(".csv.gz"))

    def test_nothing_can_be_fetched(self):
        self.write_mixed()
        self.write_hostile()
        self.write_paired()
        self.write_history()
        page = self.report("mixed", "hostile", "paired", "runs")
        for name, attributes, text in page.elements:
            self.assertNotIn(name, ("link", "base", "iframe", "object", "embed", "img", "video", "audio", "image", "use"))
            for attribute in FETCHING:
                self.assertNotIn(attribute, attributes)
            self.assertTrue(attributes.get("href", "#").startswith(("#", "data:application/gzip;base64,")))
            for css in (text if name == "style" else "", attributes.get("style", "")):
                self.assertIsNone(re.search(r"url\(|@import|image-set", css))
            if name == "script":
                self.assertIsNone(re.search(r"fetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon|import\(|https?:",
                                            text))
        (policy,) = [a["content"] for _, a, _ in page.all("meta") if a.get("http-equiv") == "Content-Security-Policy"]
        self.assertTrue(policy.startswith("default-src 'none'; "))
        self.assertNotIn("http", policy)
        self.assertIsNone(re.search(r"script-src[^;]*unsafe", policy))

    def test_a_row_of_a_default_run_of_four_devices_takes_less_than_96_bytes(self):
        folder = self.write_default()
        page = self.report("default")
        rows = page.rows(0)
        self.assertGreater(len(rows), 30000)
        self.assertEqual(len({row[9] for row in rows if ">" not in row[9] and "+" not in row[9]} & {
            "sim:0", "sim:1", "sim:2", "sim:3"}), 4)
        self.assertLess(len(page.text.encode("utf-8")), 96 * len(rows))
        self.assertEqual(page.files()[0][1], results_of(folder))


if __name__ == "__main__":
    unittest.main()
