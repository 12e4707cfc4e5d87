"""Algorithms that times choose: within a run, and over runs that keep them, one choice holds. The emulated library draws
which algorithm is the fastest from the seed of its process."""
import csv
import unittest

import test_emulator
from support import AssayTest

PRODUCT = "linear/f32/batch=64,in=256,out=96,bias=0,act=none"
OTHER_PRODUCT = "linear/f32/batch=64,in=256,out=64,bias=0,act=none"
# Seeds of which one algorithm is the fastest of PRODUCT, and leaves bits of its own.
ALGORITHM_6, ALGORITHM_7, ALGORITHM_66 = 3, 7, 0
DEVICE = ("--device", "cuda", "--check-only", "--no-limits")


class Choices(AssayTest):
    emulate = test_emulator.Emulator.emulate

    def run_seed(self, seed, out, *more, fault="", case=PRODUCT):
        options = f"--seed {seed}" + (f" --fault {fault}" if fault else "")
        self.emulate(options, "run", "--case", case, *DEVICE, *more, "--out", out)
        row, = self.rows(out)
        return row

    def choices(self, file):
        with open(self.folder / file, encoding="utf-8", newline="") as text:
            return list(csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE))

    def test_processes_choose_for_themselves_and_keep_choices_in_a_file(self):
        first, other = self.run_seed(ALGORITHM_6, "first", "--choices", "kept"), self.run_seed(ALGORITHM_7, "other")
        self.assertNotEqual(first["implementation"], other["implementation"], "the emulator draws")
        again = self.run_seed(ALGORITHM_7, "again", "--choices", "kept")
        self.assertEqual((first["implementation"], first["output_hash"]), (again["implementation"], again["output_hash"]))
        kept, = self.choices("kept")
        self.assertEqual(first["device_uuid"], kept["device"])
        self.assertTrue(first["implementation"].startswith(f"{kept['library']} {kept['name']}"))
        self.assertIn("m=96 n=64 k=256", kept["plan"])
        self.assertEqual([kept], self.choices("again/choices.tsv"))
        self.assertIn(f"--choices {self.folder}/kept", again["replay"])
        self.run_seed(ALGORITHM_7, "wider", "--choices", "kept", case=OTHER_PRODUCT)
        self.assertEqual(2, len(self.choices("kept")))

    def test_a_resumed_run_takes_the_choices_of_its_begin(self):
        cases = ("--case", PRODUCT, "--repeat", 2)
        self.emulate(f"--seed {ALGORITHM_6}", "run", *cases, *DEVICE, "--out", "out")
        first, second = self.rows("out")
        results = self.folder / "out" / "results.csv"
        results.write_bytes(b"".join(results.read_bytes().splitlines(keepends=True)[:2]))
        self.emulate(f"--seed {ALGORITHM_7}", "run", "--resume", "out")
        self.assertEqual([row["implementation"] for row in (first, second)],
                         [row["implementation"] for row in self.rows("out")])

    def test_a_stored_choice_that_is_wrong_is_not_taken(self):
        before = self.run_seed(ALGORITHM_66, "before", "--choices", "kept")
        self.assertIn(" algorithm 66,", before["implementation"])
        after = self.run_seed(ALGORITHM_66, "after", "--choices", "kept", fault="wrong_algorithm")
        self.assertNotIn(" algorithm 66,", after["implementation"].split(";")[0])
        self.assertRegex(after["implementation"], r"left out: a stored choice: algorithm 66, .*\(wrong on exact data\)")
        self.assertIn("algorithm 66", after["wrong_algorithms"])
        again = self.run_seed(ALGORITHM_7, "again", "--choices", "kept", fault="wrong_algorithm")
        self.assertEqual(after["implementation"], again["implementation"], "the new choice is kept")

    def test_a_stored_choice_that_the_library_refuses_is_not_taken(self):
        self.run_seed(ALGORITHM_6, "before", "--choices", "kept")
        kept, = self.choices("kept")
        for digits in ("0" * 128, "another"):
            text = "\t".join(kept) + "\n" + "\t".join({**kept, "chosen": digits}.values()) + "\n"
            (self.folder / "kept").write_text(text, encoding="utf-8")
            row = self.run_seed(ALGORITHM_7, f"of-{digits[:7]}", "--choices", "kept")
            self.assertEqual("pass", row["status"])
            self.assertRegex(row["implementation"], r"left out: a stored choice: .*\(not supported\)")

    def test_another_file_is_refused_before_anything_runs(self):
        (self.folder / "notes").write_text("my notes\n", encoding="utf-8")
        said = self.emulate("", "run", "--case", PRODUCT, *DEVICE, "--choices", "notes", "--out", "out", expect=2).stderr
        self.assertIn("notes:1: no file of choices", said)
        self.assertEqual("my notes\n", (self.folder / "notes").read_text(encoding="utf-8"))
        self.assertFalse((self.folder / "out").exists())

    def test_other_bits_by_another_algorithm_are_no_finding(self):
        """Of runs whose seeds differ, nothing but the choice does."""
        first, other = self.run_seed(ALGORITHM_6, "first"), self.run_seed(ALGORITHM_7, "other")
        self.assertNotEqual(first["output_hash"], other["output_hash"])
        said = self.assay("compare", "first", "other", "--csv", "compared.csv").stdout
        self.assertIn("1 of 1 left other bits, 1 of them by another implementation", said)
        row, = self.rows(".", "compared.csv")
        self.assertEqual(("false", "false"), (row["same_bits"], row["same_implementation"]))
        # Versions with one library share the choice.
        arguments = ("bisect", "--what", "bits", "--csv", "asked.csv", "--variable", "ASSAY_EMULATOR_SEED", "--versions",
                     ALGORITHM_6, ALGORITHM_7, "--", "--case", PRODUCT, "--device", "cuda")
        said = self.emulate("", *arguments, expect=3).stdout
        self.assertIn(f"nothing to find: the last version, {ALGORITHM_7}: good", said)

    def test_bits_of_another_algorithm_do_not_accuse_a_version(self):
        """The first version has an algorithm that the second has wrong, and leaves out: it takes one of the others, of which
        one has the same bits."""
        said = self.emulate(f"--seed {ALGORITHM_66}", "bisect", "--what", "bits", "--csv", "asked.csv", "--variable",
                            "ASSAY_EMULATOR_FAULT", "--versions", "minmax_keeps_nan", "wrong_algorithm", "--", "--case", PRODUCT,
                            "--device", "cuda", expect=3).stdout
        self.assertRegex(said, "nothing to find: the last version, wrong_algorithm: (another algorithm|good)")


if __name__ == "__main__":
    unittest.main()
