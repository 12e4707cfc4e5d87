"""The program shows that it catches what it claims to catch, and never cries wolf."""
import csv
import unittest

from support import ABSENT, AssayTest


class Selftest(AssayTest):
    def table(self, file):
        with open(self.folder / file, newline="", encoding="utf-8") as text:
            return list(csv.DictReader(text, strict=True))

    def test_every_fault_is_caught_and_no_right_device_is_flagged(self):
        said = self.assay("selftest")
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
        self.assertLessEqual({("exact", "exact_data"), ("sum_bound", "real_data"), ("function_bound", "domain"),
                              ("freivalds", "exact_data"), ("last_launch", "timed_launches"), ("supervision", "")},
                             {(row["caught_by"], row["caught_on"]) for row in faults})
        self.assertEqual({row["caught_by"] for row in rows if row["verdict"] == "passed"}, {""})

    def test_cases_feel_each_element(self):
        said = self.assay("selftest", "--felt", "--profile", "seeds", "--filter", "tensor_ops/less/f32", "--csv", "felt.csv")
        self.assertIn("less                      f32       100.00% of 378          100.00% of 48", said.stdout)
        rows = self.table("felt.csv")
        self.assertEqual({row["felt"] == row["elements"] for row in rows}, {True})
        self.assertEqual({row["misread"] for row in rows}, {"neighbour", "neutral", "stale"})

    def test_elements_that_are_not_felt_are_named(self):
        self.assay("selftest", "--felt", "--filter", "reduce_max/f32/n=65537", "--csv", "felt.csv", expect=1)
        missed = [row for row in self.table("felt.csv") if row["first_not_felt"]]
        self.assertEqual({(row["place"], row["felt"]) for row in missed}, {("drawn", "0")})
        self.assay("selftest", "--felt", "--filter", "random/f32", "--csv", "felt.csv", expect=1)  # nothing to feel

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
