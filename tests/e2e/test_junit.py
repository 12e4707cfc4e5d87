"""junit.xml of real runs, by the schema that common readers agree on, and its counts against results.csv."""
import pathlib
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as ElementTree

from support import ASSAY, AssayTest

SCHEMA = pathlib.Path(__file__).parent.parent / "junit.xsd"


class Junit(AssayTest):
    def check(self, out):
        """Validates junit.xml, and returns its root and the rows of results.csv."""
        file = self.folder / out / "junit.xml"
        result = subprocess.run(["xmllint", "--noout", "--schema", SCHEMA, file], text=True, capture_output=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        root = ElementTree.parse(file).getroot()
        rows = self.rows(out)
        for suite in [root, *root]:
            cases = list(suite.iter("testcase"))
            self.assertEqual(int(suite.get("tests")), len(cases))
            self.assertEqual(int(suite.get("failures")), len(list(suite.iter("failure"))))
            self.assertEqual(int(suite.get("errors")), len(list(suite.iter("error"))))
            if suite is not root:
                self.assertEqual(int(suite.get("skipped")), len(list(suite.iter("skipped"))))
            times = sum(float(case.get("time")) for case in cases)
            self.assertAlmostEqual(float(suite.get("time")), times, delta=1e-9 * (len(cases) + 1))
        return root, rows

    def test_a_run_that_passes(self):
        self.assay("run", "--profile", "seeds", "--device", "cpu", "--suite", "tensor_ops,linear", "--out", "out")
        root, rows = self.check("out")
        self.assertEqual([root.get(count) for count in ("tests", "failures", "errors")], [str(len(rows)), "0", "0"])
        self.assertGreater(float(root.get("time")), 0)
        for suite in root:
            medians = {p.get("name"): p.get("value") for p in suite.iter("property") if p.get("name").startswith("time")}
            own = [row for row in rows if f"{row['suite']} on {row['device']}" == suite.get("name")]
            self.assertEqual(medians, {f"time_median_s {row['case_id']} {row['timing']}": row["time_median_s"]
                                       for row in own if row["timing"]})
            for case, row in zip(suite.iter("testcase"), own, strict=True):
                self.assertAlmostEqual(float(case.get("time")), float(row["wall_s"]), delta=1e-9)
        said = [case.findtext("system-out") for case in root.iter("testcase")]
        self.assertEqual(sorted(said), sorted(f"replay: {row['replay']}" for row in rows))

    def test_several_devices_and_skips_among_them(self):
        self.assay("run", "--profile", "seeds", "--check-only", "--sim-devices", "3", "--device", "cpu,sim",
                   "--suite", "tensor_ops,transfers,allreduce", "--filter", "f32|copy", "--axis", "ranks=2,4",
                   "--out", "out")
        root, rows = self.check("out")
        self.assertEqual({suite.get("name") for suite in root}, {f"{r['suite']} on {r['device']}" for r in rows})
        self.assertIn("collectives on sim:0+sim:1", {suite.get("name") for suite in root})
        skipped = [case for case in root.iter("testcase") if case.find("skipped") is not None]
        self.assertEqual(len(skipped), sum(row["status"] == "skip" for row in rows))
        self.assertIn("too few devices", skipped[0].find("skipped").get("message"))

    def test_skips_alone_are_an_error(self):
        self.assay("run", "--case", "allreduce/f32/reduce=sum,ranks=4,count=1", "--sim-devices", "1",
                   "--device", "sim", "--out", "out", expect=3)
        root, _ = self.check("out")
        self.assertEqual([root.get(count) for count in ("tests", "failures", "errors")], ["2", "0", "1"])
        self.assertEqual(root.find(".//error").get("type"), "INCOMPLETE")

    def test_a_crash_in_a_run_that_is_cut_short(self):
        # The fault crashes where the trial is: a worker killed from here may be between two trials.
        process = subprocess.Popen([ASSAY, "run", "--no-limits", "--device", "sim", "--sim-devices", "1", "--sim-fault",
                                    "segv,op=abs", "--suite", "tensor_ops", "--out", "out"],
                                   cwd=self.folder, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        deadline = time.monotonic() + 120
        results = self.folder / "out" / "results.csv"
        while not results.exists() or all(row["status"] != "crash" for row in self.rows_so_far("out")):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=60), 4)
        root, _ = self.check("out")
        self.assertEqual(root.find(".//error").get("type"), "crash")
        self.assertIn("signal 11", root.find(".//error").text)


if __name__ == "__main__":
    unittest.main()
