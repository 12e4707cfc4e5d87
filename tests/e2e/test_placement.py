"""Where tensors, modules and results are: each sentence of docs/placement.md has a case, and each can fail."""
import os
import pathlib
import re
import unittest

from support import AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIM = ("run", "--suite", "placement", "--device", "sim")


class Placement(AssayTest):
    def test_all_is_right_on_four_simulated_devices(self):
        self.assay(*SIM, "--sim-devices", "4", "--out", "out")
        rows = self.rows("out")
        self.assertEqual({row["status"] for row in rows}, {"pass"})
        self.assertIn("sim:0+sim:1+sim:2+sim:3", {row["device"] for row in rows})

    def test_what_makes_sense_on_a_cpu_is_right_there(self):
        self.assay("run", "--suite", "placement", "--device", "cpu", "--profile", "smoke", "--out", "out")
        rows = self.rows("out")
        self.assertEqual({row["status"] for row in rows}, {"pass"})
        self.assertLessEqual({"device_query", "born_on_cpu", "move_stays", "results_stay", "square_123", "linear_module",
                              "sequential", "manual_seed", "data_parallel", "distributed_gradient",
                              "absent_device_refused"}, {row["op"] for row in rows})
        self.assertNotIn("move_copies", {row["op"] for row in rows}, "there is nowhere to move to")

    def test_too_few_devices_are_said(self):
        self.assay("run", "--case", "placement/most_free/f32/devices=4,n=16", "--case",
                   "placement/square_123/i64/numbers=3", "--device", "sim", "--sim-devices", "2", "--out", "out")
        reasons = {row["op"]: (row["status"], row["reason"]) for row in self.rows("out")}
        self.assertEqual(reasons["most_free"], ("skip", "too few devices: 4 wanted of 2 sim device(s)"))

    def masked(self, mask, *more, expect=0):
        self.assay("run", "--case", "placement/visible_mask/f32/n=16", "--device", "sim", "--sim-devices", "4", "--out",
                   "out", *more, expect=expect, env=os.environ | {"ASSAY_SIM_VISIBLE_DEVICES": mask})
        return self.rows("out")

    def test_a_mask_maps_logical_to_physical_devices(self):
        rows = self.masked("2,0")
        self.assertEqual([(row["device"], row["device_uuid"], row["status"]) for row in rows],
                         [("sim:0", "SIM-2", "pass"), ("sim:1", "SIM-0", "pass")])

    def test_an_entry_of_a_mask_that_is_none_ends_it(self):
        self.assertEqual([row["device_uuid"] for row in self.masked("SIM-3,9,1")], ["SIM-3"])

    def test_a_mask_that_is_ignored_is_found(self):
        rows = self.masked("2,0", "--sim-fault", "ignores_mask", expect=1)
        self.assertEqual({row["status"] for row in rows}, {"fail"})
        self.assertIn("2 devices should be visible, 4 are", rows[0]["reason"])

    def test_the_page_names_every_case_and_every_case_is_there(self):
        page = (ROOT / "docs" / "placement.md").read_text(encoding="utf-8")
        named = set(re.findall(r"^\|[^|]*\| `([a-z_0-9]+)", page, re.MULTILINE))
        listed = self.assay("list", "--suite", "placement", "--profile", "full", "--device", "sim", "--sim-devices", "2")
        ops = set(re.findall(r"placement/([a-z_0-9]+)/", listed.stdout))
        self.assertEqual(named - {"tensor_ops"}, ops)
        self.assertGreater(len(ops), 15)

    def test_every_fault_that_the_page_names_turns_its_row_red(self):
        page = (ROOT / "docs" / "placement.md").read_text(encoding="utf-8")
        catalogue = (ROOT / "session" / "selftest" / "fault_catalogue.cpp").read_text(encoding="utf-8")
        pairs = re.findall(r"^\|[^|]*\| `([a-z_0-9]+)[^|]*\| ([^|]*) \|$", page, re.MULTILINE)
        self.assertGreater(len(pairs), 15)
        for op, faults in pairs:
            for fault in re.findall("`([a-z_]+)`", faults):
                if op in ("visible_mask", "tensor_ops"):
                    continue  # the one has a test above, which the other needs no mask for
                self.assertRegex(catalogue, rf'"{fault}", "placement/{op}/')


if __name__ == "__main__":
    unittest.main()
