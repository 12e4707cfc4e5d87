"""scripts/gpu-evidence on emulated GPUs: its archive is complete whatever happens, and green only if everything was."""
import csv
import io
import os
import pathlib
import subprocess
import tarfile
import unittest

from support import ASSAY, AssayTest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
FEW = "(add|peer_memcpy|allreduce)/f32/.*(=3|2,count=1)$"
HANGING = """#!/bin/sh
case $1 in
  devices) echo '{"devices": [{"backend": "cuda", "device": "cuda:0", "name": "a GPU"},
                              {"backend": "cuda", "device": "cuda:1", "name": "a GPU"}], "problems": []}' ;;
  limits) sleep 1000 ;;
  selftest) sleep 1000 ;;
  run) echo 'no such thing' >&2; exit 2 ;;
esac
"""


class Evidence(AssayTest):
    def collect(self, *arguments, gpus=2, expect=0, build=None, **variables):
        """Runs the script on emulated GPUs and demands its exit code."""
        command = [SCRIPTS / "emulate-gpu", "--build", os.environ["ASSAY_BUILD"], "--gpus", str(gpus), SCRIPTS / "gpu-evidence",
                   "--build", build or pathlib.Path(ASSAY).parents[1], *arguments]
        result = subprocess.run(command, cwd=self.folder, text=True, timeout=1500, stdin=subprocess.DEVNULL, capture_output=True,
                                env={**os.environ, **variables}, check=False)
        self.assertEqual(result.returncode, expect, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def archive(self, name):
        with tarfile.open(self.folder / f"{name}.tar.gz") as files:
            return {file.name: files.extractfile(file).read().decode() for file in files.getmembers() if file.isfile()}

    def steps(self, name):
        return {row["step"]: row for row in csv.DictReader(io.StringIO(self.archive(name)[f"{name}/steps.csv"], newline=""))}

    def test_right_gpus_are_green(self):
        said = self.collect("--out", "right", "--steps", "cuda_test,cuda_libraries_test,seeds,smoke", "--filter", FEW).stdout
        steps = self.steps("right")
        self.assertEqual(["devices", "cuda_test", "cuda_libraries_test", "seeds", "smoke", "report"], list(steps))
        for step in steps.values():
            self.assertEqual(("passed", "0"), (step["status"], step["exit_code"]), step)
            self.assertIn(step["command"], said)
        files = self.archive("right")
        for name in ("summary.md", "report.html", "logs/cuda_test.xml", "logs/seeds.stderr", "logs/devices.stdout",
                     "versions/uname.txt", "versions/assay.txt", "runs/seeds/results.csv", "runs/smoke/samples.csv"):
            self.assertIn(f"right/{name}", files)
        self.assertIn("PASSED: 6 steps; only a part", files["right/summary.md"])
        self.assertIn("| smoke | passed | ", files["right/summary.md"])
        self.assertIn("runs/smoke", steps["report"]["command"])
        self.assertIn("runs/seeds", steps["report"]["command"])
        for text in ("the GPUs are emulated: no evidence of hardware", f"{self.folder}/right.tar.gz", "open an issue"):
            self.assertIn(text, said)

    def test_it_names_the_gpu_that_is_lost_and_goes_on(self):
        said = self.collect("--out", "lost", "--steps", "seeds,smoke", "--filter", "(add|mul)/f32/.*=(3|1003)$", expect=1,
                            ASSAY_EMULATOR_LOST="1@60").stdout
        steps = self.steps("lost")
        self.assertEqual("FAILED", steps["seeds"]["status"])
        self.assertIn("cuda:1: ", steps["seeds"]["why"])
        self.assertNotIn("cuda:0: ", steps["seeds"]["why"])
        self.assertIn("runs/smoke", steps["smoke"]["command"])
        self.assertIn("lost/runs/smoke/results.csv", self.archive("lost"))
        self.assertIn("FAILED: ", "".join(said.splitlines()[-3:]))

    def test_the_selftest_of_each_gpu_and_wrong_results_are_steps(self):
        self.collect("--out", "wrong", "--steps", "selftest,seeds", "--filter", "tensor_ops/add/f32/n=1003$", gpus=1, expect=1,
                     ASSAY_CUDA_FAULT="flipped_bit")
        steps = self.steps("wrong")
        self.assertIn("cuda:0: 1 fail", steps["seeds"]["why"])
        self.assertEqual("1", steps["seeds"]["exit_code"])
        self.assertIn("selftest-cuda0", steps)

    def test_without_a_gpu_it_is_red_and_says_what_to_do(self):
        said = self.collect("--out", "none", expect=3, CUDA_VISIBLE_DEVICES="-1").stdout
        self.assertIn("nvidia-smi -L", said)
        self.assertEqual({"FAILED", "not run"}, {step["status"] for step in self.steps("none").values()})

    def test_a_step_that_hangs_is_ended_and_one_without_rows_is_red(self):
        program = self.folder / "hanging" / "bin" / "assay"
        program.parent.mkdir(parents=True)
        program.write_text(HANGING, encoding="utf-8")
        program.chmod(0o755)
        self.collect("--out", "hung", "--steps", "cuda_test,limits,selftest,seeds", "--timeout", "1", build=self.folder / "hanging", expect=1)
        steps = self.steps("hung")
        self.assertIn("did not end within 1 s", steps["selftest-cuda0"]["why"])
        self.assertIn("did not end within 2 s", steps["limits"]["why"], "the limit of two GPUs")
        self.assertIn("it left no rows", steps["seeds"]["why"])
        self.assertEqual("left out", steps["cuda_test"]["status"])

    def test_mistakes_are_refused_and_nothing_is_overwritten(self):
        (self.folder / "there").mkdir()
        self.assertIn("nothing is overwritten", self.collect("--out", "there", expect=2).stderr)
        self.assertIn("valid: devices, cuda_test", self.collect("--steps", "sedes", expect=2).stderr)
        self.assertIn("no program", self.collect(build=self.folder / "nowhere", expect=4).stderr)
        self.assertEqual([], [path for path in self.folder.iterdir() if path.name.startswith("gpu-evidence")])


if __name__ == "__main__":
    unittest.main()
