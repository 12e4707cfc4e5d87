"""Many devices, and many trials."""
import json
import unittest

from support import AssayTest


class Load(AssayTest):
    def test_eight_devices_run_smoke_to_the_end(self):
        self.assay("run", "--profile", "smoke", "--filter", "/f32/", "--check-only", "--sim-devices", "8", "--device", "sim",
                   "--quiet", "--out", "out")
        rows = self.rows("out")
        self.assertEqual(len(rows), len(self.rows("out", "plan.csv")))
        self.assertEqual({r["status"] for r in rows}, {"pass"})
        self.assertEqual({r["device"] for r in rows if not set("+>") & set(r["device"])}, {f"sim:{i}" for i in range(8)})
        references = json.loads((self.folder / "out" / "run.json").read_text())["references"]
        self.assertGreater(references["shared"], 5 * references["computed"],
                           "computed for one device, used for eight")
        print(f"    8 devices, {len(rows)} trials; references {references}")

    def test_a_long_run_does_not_grow(self):
        result = self.assay("run", "--case", "tensor_ops/add/f32/n=3", "--case", "tensor_ops/sum/f64/n=3",
                            "--check-only", "--device", "cpu", "--repeat", "600", "--out", "out")
        growth = [line for line in result.stderr.splitlines() if "growth per 1,000 trials" in line]
        self.assertEqual(len(growth), 1, result.stderr)
        trials = len(self.rows("out"))
        self.assertEqual(trials, 1200)
        print(f"    {trials} trials; {growth[0]}")
        numbers = [float(word) for word in growth[0].split() if word[0] in "+-"]
        for kib, handles in (numbers[:2], numbers[2:]):
            self.assertLess(kib, 200, growth)
            self.assertLess(abs(handles), 0.5, growth)


if __name__ == "__main__":
    unittest.main()
