"""A backend that nothing but its own module knows is planned, checked, measured and reported like the others."""
import unittest

from support import AssayTest


class Toy(AssayTest):
    """The module `toy` has two devices that work."""

    def setUp(self):
        super().setUp()
        self.use_module("toy")

    def test_runs_all_suites_and_has_the_cases_that_simulated_devices_have(self):
        self.assay("run", "--profile", "seeds", "--device", "toy", "--check-only", "--out", "out")
        rows = self.rows("out")
        self.assertLessEqual({"tensor_ops", "linear", "transfers", "allreduce", "placement"}, {row["suite"] for row in rows})
        self.assertEqual({"pass"}, {row["status"] for row in rows})
        on_simulated = self.trials("--profile", "seeds", "--sim-devices", 2, "--device", "sim")
        self.assertEqual(sorted((trial["case_id"], trial["device"].replace("sim", "toy")) for trial in on_simulated),
                         sorted((row["case_id"], row["device"]) for row in rows))
        self.assertEqual({"toy:0", "toy:1"}, {row["device"] for row in self.rows("out", "devices.csv")})

    def test_has_limits_and_a_report(self):
        self.assay("limits", "--device", "toy:0", "--csv", "limits.csv")
        limits = {row["limit"] for row in self.rows(".", "limits.csv") if row["status"] == "pass"}
        self.assertLessEqual({"memory_copy", "matrix_f32", "link_to_device", "launch"}, limits)
        self.assay("run", "--case", "transfers/device_memcpy/u8/from=pinned,to=device,bytes=1048576,by=engine", "--device", "toy:0", "--out", "out")
        self.assertIn("link_to_device", {row["limit"] for row in self.rows("out", "limits.csv")})
        self.assay("report", "out", "-o", "page.html")
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("toy:0", page)
        self.assertNotIn("simulated)", page.replace("(no hardware)", ""))

    def test_is_named_in_every_way(self):
        for item in ("toy", "toy:1", "toy:most-free", "all"):
            devices = {trial["device"] for trial in self.trials("--device", item, "--filter", "^tensor_ops/add/f32/n=3$")}
            self.assertTrue(any(device.startswith("toy") for device in devices), item)
        self.assay("list", "--require", "toy:2", "--filter", "^tensor_ops/add/f32/n=3$")
        self.assertIn("toy:7", self.assay("list", "--device", "toy:7", expect=3).stderr)
        self.assertIn("unknown device 'toi'", self.assay("list", "--device", "toi", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
