"""The program shows that it catches what it claims to catch, and never cries wolf."""
import csv
import resource
import subprocess
import unittest

from support import ABSENT, ASSAY, AssayTest


class Selftest(AssayTest):
    def table(self, file):
        with open(self.folder / file, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text, strict=True))

    def test_every_fault_is_caught_and_no_right_device_is_flagged(self):
        said = self.assay("selftest", "--checks")
        rows = self.table("assay-selftest.csv")
        odd = {"declared_sums", "f32_factors", "rounded_parts", "stuck_meter",  # and not wrong
               "remembers_all_elements", "looks_at_callers", "expects_the_order", "disk", "incremental", "periodic",
               "clock_little", "works_ahead_outside"}
        faults = [row for row in rows if row["fault"] not in odd | {"none"}]
        self.assertGreater(len({row["fault"] for row in faults}), 45)
        self.assertEqual({row["verdict"] for row in faults}, {"caught"})
        self.assertEqual({(row["verdict"], row["exit_code"]) for row in rows if row["fault"] == "none"},
                         {("passed", "0")})
        self.assertEqual({(row["fault"], row["verdict"], row["exit_code"]) for row in rows if row["fault"] in odd},
                         {(fault, "passed", "0") for fault in odd})
        self.assertIn(f"{len(faults)} of {len(faults)} faults caught", said.stderr)
        # Each kind of check is the one that catches something.
        self.assertLessEqual({"exact", "freivalds", "sum_bound", "function_bound", "relative_bound", "running_bound",
                              "softmax_bound", "layernorm_bound", "probable_bound", "effective_bits", "worst_element",
                              "misrounded", "placement", "guard_bands", "unchanged_inputs", "process_state", "agreement_of_ranks",
                              "last_launch", "batch_invariance", "soak", "late_writes", "clock", "placement_layer",
                              "supervision"},
                             {row["caught_by"] for row in faults})
        self.assertLessEqual({("exact", "exact_data"), ("sum_bound", "all_sizes"), ("function_bound", "domain"),
                              ("freivalds", "exact_data"), ("last_launch", "timed_launches"), ("supervision", "")},
                             {(row["caught_by"], row["caught_on"]) for row in faults})
        self.assertEqual({row["caught_by"] for row in rows if row["verdict"] == "passed"}, {""})
        # Without it, something passes.
        self.assertRegex(said.stderr, r"\n0 of \d+ checks let nothing slip when they are off\n")
        self.assertIn("without clock ", said.stdout)

    def test_cases_feel_each_element(self):
        said = self.assay("selftest", "--felt", "--profile", "seeds", "--filter", "tensor_ops/less/f32", "--csv", "felt.csv")
        self.assertIn("less                      f32       100.00% of 522          100.00% of 48", said.stdout)
        rows = self.table("felt.csv")
        self.assertEqual({row["felt"] == row["elements"] for row in rows}, {True})
        self.assertEqual({row["misread"] for row in rows}, {"neighbour", "neutral", "stale"})

    def test_elements_that_are_not_felt_are_named(self):
        self.assay("selftest", "--felt", "--filter", "reduce_max/.*/n=65537", "--csv", "felt.csv", expect=1)
        missed = [row for row in self.table("felt.csv") if row["first_not_felt"]]
        self.assertEqual({(row["place"], row["felt"]) for row in missed}, {("drawn", "0")})
        self.assay("selftest", "--felt", "--filter", "random/f32", "--csv", "felt.csv", expect=1)  # nothing to feel

    def test_two_at_once_have_simulated_devices_of_their_own(self):
        # Not a folder of locks for each test, but one for both, as on a machine that people share.
        command = [ASSAY, "selftest", "--only", "past_end", "--csv"]
        two = [subprocess.Popen([*command, f"{i}.csv"], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True) for i in range(2)]
        self.assertEqual([(process.communicate()[1].split("\n")[0], process.returncode) for process in two],
                         [("1 of 1 faults caught, 1 of 1 right devices not flagged", 0)] * 2)

    def test_what_is_missed_is_said_again_at_the_end_with_its_reason(self):
        room_bytes = 200  # for no file of a run, but for its error
        limit = (resource.RLIMIT_FSIZE, (room_bytes, room_bytes))
        said = self.assay("selftest", "--only", "past_end", "--csv", "-", expect=1,
                          preexec_fn=lambda: resource.setrlimit(*limit)).stderr.splitlines()[-4:]
        self.assertRegex(said[0], "^MISSED: past_end on tensor_ops/add/f32/n=1003: no row, exit code 4: .*File too large")
        self.assertRegex(said[1], "^FALSE ALARM: none on tensor_ops/add/f32/n=1003: no row, exit code 4: .*File too large")
        self.assertEqual(said[2], "0 of 1 faults caught, 0 of 1 right devices not flagged")

    def test_one_fault_alone(self):
        self.assay("selftest", "--only", "stale_element", "--csv", "one.csv")
        self.assertEqual([row["fault"] for row in self.table("one.csv")], ["stale_element", "none"])

    def test_an_unknown_fault_is_refused(self):
        error = self.assay("selftest", "--only", "low_bits", expect=2).stderr
        self.assertIn("did you mean 'low_bit'?", error)
        names = error.strip().split("Valid: ")[1].split(", ")
        self.assertEqual(len(names), len(set(names)), "each is named once")

    def test_faults_go_into_simulated_devices_or_a_gpu_that_is_there(self):
        self.assertIn("cpu", self.assay("selftest", "--device", "cpu", expect=2).stderr)
        self.assay("selftest", "--device", ABSENT, expect=3)
        self.assertFalse((self.folder / "assay-selftest.csv").exists())


if __name__ == "__main__":
    unittest.main()
