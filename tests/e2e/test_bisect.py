"""`assay bisect` finds where versions turned: settings of real libraries, and kernels that cheat, stand for versions."""
import os
import pathlib
import unittest

from support import ASSAY, AssayTest

CHEATS = str(pathlib.Path(os.path.realpath(ASSAY)).parent.parent / "lib" / "assay" / "kernel_cheats.so")
ADD = ("--case", "tensor_ops/add/f32/n=1003", "--sim-devices", "1", "--device", "sim", "--kernels", CHEATS)


class Bisect(AssayTest):
    def versions(self, *versions, variable, what="wrong", expect=0, selection=ADD):
        (self.folder / "bisect.csv").unlink(missing_ok=True)
        return self.assay("bisect", "--variable", variable, "--what", what, "--csv", "bisect.csv", "--versions", *versions,
                          "--", *selection, expect=expect)

    def test_a_version_that_turned_wrong(self):
        said = self.versions("right-1", "right-2", "right-3", "zeros", "copies_input", variable="ASSAY_CHEAT").stdout
        self.assertIn("first wrong: zeros, after right-3", said)
        rows = {row["version"]: row for row in self.rows(".", "bisect.csv")}
        self.assertEqual((rows["zeros"]["verdict"], rows["zeros"]["case_id"], rows["zeros"]["exit_code"]),
                         ("wrong", "tensor_ops/add/f32/n=1003", "1"))
        self.assertEqual(rows["right-3"]["verdict"], "good")
        self.assertNotIn("right-2", rows, "halving does not ask every version")

    def test_a_version_that_does_not_start_is_gone_around(self):
        said = self.versions("right-1", "exits", "zeros", variable="ASSAY_CHEAT").stdout
        self.assertIn("first wrong: zeros, after right-1; 1 between them cannot be told", said)

    def test_nothing_is_found_without_a_good_first_or_a_bad_last_version(self):
        said = self.versions("zeros", "right-1", variable="ASSAY_CHEAT", expect=3).stdout
        self.assertIn("the first version, zeros, is not good: wrong", said)
        said = self.versions("right-1", "right-2", variable="ASSAY_CHEAT", expect=3).stdout
        self.assertIn("nothing to find: the last version, right-2: good", said)

    def test_bits_that_changed(self):
        """OpenBLAS's kernels of a processor with fused multiply-add, and of one without."""
        said = self.versions("Nehalem", "Sandybridge", "Haswell", "Haswell ", variable="OPENBLAS_CORETYPE", what="bits",
                             selection=("--case", "linear/f64/batch=16,in=64,out=33,bias=0,act=none", "--device", "cpu")).stdout
        self.assertRegex(said, "first other bits: (Sandybridge|Haswell), after (Nehalem|Sandybridge)")

    def test_mistakes(self):
        self.assertIn("at least two", self.versions("one", variable="X", expect=2).stderr)
        self.assertIn("given twice", self.versions("one", "one", variable="X", expect=2).stderr)
        said = self.versions("a", "b", variable="X", selection=("--case", "nonesuch"), expect=2).stderr
        self.assertIn("the selection is refused", said)
        said = self.assay("bisect", "--variable", "X", "--versions", "a", "b", expect=2).stderr
        self.assertIn("nothing follows `--`", said)

    def test_the_selection_follows_options_too(self):
        said = self.assay("bisect", "--versions", "right-1", "zeros", "--variable", "ASSAY_CHEAT", "--csv", "bisect.csv",
                          "--", *ADD).stdout
        self.assertIn("first wrong: zeros, after right-1", said)
        self.assertIn("tensor_ops/add/f32/n=1003", said)


if __name__ == "__main__":
    unittest.main()
