"""`assay run --energy`: joules of launches, by a simulated device of 10 W and by a false folder of counters."""
import os
import unittest

from support import AssayTest

ADD = ("--case", "tensor_ops/add/f32/n=65536", "--no-limits")


class Energy(AssayTest):
    def row(self, *arguments, **options):
        self.assay("run", *arguments, "--energy", "--out", "run", **options)
        (row,) = self.rows("run")
        self.assertEqual(row["status"], "pass")
        return row

    def test_a_device_tells_its_joules(self):
        row = self.row(*ADD, "--sim-devices", "1", "--device", "sim")
        low, joules, high = (float(row[name]) for name in ("energy_ci_low_j", "energy_per_launch_j", "energy_ci_high_j"))
        self.assertTrue(0 < low <= joules <= high, (low, joules, high))
        self.assertAlmostEqual(float(row["energy_per_flop_j"]) * float(row["flops"]), joules, delta=1e-6 * joules)
        self.assertGreater(float(row["energy_by_power_per_launch_j"]), 0)
        self.assertAlmostEqual(float(row["idle_power_w"]), 10, delta=2)
        self.assertGreaterEqual(float(row["energy_resolution_s"]), 0.005)
        self.assertEqual(row["reason"], "")
        self.assertIn("--energy", row["replay"])

    def test_two_devices_tell_theirs_together(self):
        copy = "transfers/peer_memcpy/u8/bytes=65536,by=kernel,access=direct,ways=both"
        self.assay("run", "--case", copy, "--no-limits", "--sim-devices", "2", "--device", "sim", "--energy", "--out", "run")
        row = self.rows("run")[0]
        self.assertAlmostEqual(float(row["idle_power_w"]), 20, delta=4)
        self.assertEqual(float(row["power_w"]), 20)

    def test_a_counter_that_stands_still_tells_nothing(self):
        package = self.folder / "powercap" / "intel-rapl:0"
        package.mkdir(parents=True)
        for name, content in (("name", "package-0"), ("max_energy_range_uj", "1000"), ("energy_uj", "5")):
            (package / name).write_text(content + "\n")
        row = self.row(*ADD, "--device", "cpu", env={**os.environ, "ASSAY_POWERCAP": str(package.parent)})
        self.assertEqual((row["energy_per_launch_j"], row["energy_per_flop_j"]), ("", ""))
        self.assertIn("energy: 0 updates of its counter are too few to tell", row["reason"])

    def test_without_a_counter_the_row_says_so(self):
        row = self.row(*ADD, "--device", "cpu", env={**os.environ, "ASSAY_POWERCAP": str(self.folder / "nothing")})
        self.assertEqual(row["idle_power_w"], "")
        self.assertIn("no trial tells its joules", (self.folder / "run" / "run.json").read_text())
        self.assertIn("energy: no counter of energy that this process can read", row["reason"])

    def test_energy_needs_timed_launches(self):
        self.assertIn("--check-only", self.assay("run", *ADD, "--energy", "--check-only", expect=2).stderr)


if __name__ == "__main__":
    unittest.main()
