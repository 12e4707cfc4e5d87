"""PyTorch's own ops before Assay's oracles: each row passes, or its difference is declared or known."""
import os
import unittest
import unittest.mock

from provided import Provided, known_of, python_with

KNOWN = known_of("torch")


class Torch(Provided):
    def setUp(self):
        super().setUp()
        # PyTorch's results depend on the vector units that it uses.
        environment = unittest.mock.patch.dict(os.environ, ATEN_CPU_CAPABILITY="avx2")
        environment.start()
        self.addCleanup(environment.stop)

    def test_torch_passes_but_for_what_is_declared_or_known(self):
        rows = self.run_with("torch", "--profile", "seeds", "--expected", KNOWN)
        passed = [row for row in rows if row["status"] == "pass"]
        known = [row for row in rows if row["expected_failure"]]
        self.assertEqual(len(passed) + len(known), len(rows))
        self.assertGreater(len(passed), 1000)
        self.assertTrue(known)
        for row in rows:
            self.assertRegex(row["implementation"], r"^PyTorch \d+\.\d+\.\S+ \d+ threads?$")
        self.assertIn("deviation:pytorch-cast-through-f32", {row["reason"] for row in passed})

    def test_a_device_that_torch_drives(self):
        """PyTorch's CPU by the way of GPUs that Assay cannot reach: memory and streams are PyTorch's."""
        options = ("--filter", "^tensor_ops/(add|softmax|scan)/|^linear/f32/.*act=none", "--profile", "seeds")
        rows = self.run_with("torch", *options, device="torch:cpu:0")
        self.assertEqual({(row["status"], row["device"]) for row in rows}, {("pass", "torch:cpu:0")})
        self.assertGreater(len(rows), 50)
        self.assertIn("of PyTorch", rows[0]["device_name"])

    def test_a_device_of_torch_takes_kernels_of_torch(self):
        (self.folder / "mine.py").write_text(
            "import assay, torch\n@assay.kernel('neg', framework='numpy')\ndef a(x, *, out): out[...] = -x\n"
            "@assay.kernel('abs')\ndef b(x, *, out): torch.abs(x, out=out)\n"
            "@assay.kernel('add')\ndef c(a, b, *, out): out.copy_(a + 2 * b)\n")
        python = python_with("torch") or self.skipTest("no Python here has torch")
        cases = [word for op in ("neg", "abs", "add") for word in ("--case", f"tensor_ops/{op}/f32/n=1003")]
        self.assay("run", "--kernels", "mine.py", "--python", python, "--device", "torch:cpu", "--check-only", *cases,
                   "--out", "out", expect=1)
        rows = {row["op"]: row for row in self.rows("out")}
        self.assertEqual({op: row["status"] for op, row in rows.items()},
                         {"neg": "skip", "abs": "pass", "add": "fail"})
        self.assertIn("framework='torch'", rows["neg"]["reason"])

    def test_torch_without_what_is_declared(self):
        row, = self.run_with("torch", "--case", "tensor_ops/cast/f64/to=bf16,n=1003", "--strict", expect=1)
        self.assertRegex(row["reason"], r"\d+ of 1003 elements wrong")

    def test_a_pytorch_that_no_longer_does_what_is_declared(self):
        python = python_with("numpy")
        if python is None:
            self.skipTest("no Python here has numpy: install Debian's python3-numpy")
        (self.folder / "right.py").write_text("import assay, numpy\nassay.provider('PyTorch 99.0')\n@assay.kernel('cast')\n"
                                              "def cast(x, *, out):\n  numpy.copyto(out, x, casting='unsafe')\n")
        self.assay("run", "--kernels", "right.py", "--python", python, "--device", "cpu", "--check-only",
                   "--case", "tensor_ops/cast/f64/to=f16,n=1003", "--out", "out", expect=1)
        row, = self.rows("out")
        self.assertRegex(row["reason"], "declared deviation pytorch-cast-through-f32 was not seen at any of [1-9]")

    def test_what_is_known_of_torch_concerns_no_other(self):
        said = self.assay("run", "--case", "tensor_ops/sqrt/f32/n=3", "--device", "cpu", "--check-only",
                           "--expected", KNOWN, "--out", "out").stdout
        self.assertNotIn("unexpected pass", said)


if __name__ == "__main__":
    unittest.main()
