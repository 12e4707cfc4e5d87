"""The script that runs other people's CUDA programs: what becomes of each stands in its table."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["ASSAY_BUILD"])
ROOT = pathlib.Path(__file__).resolve().parents[2]
MAKEFILE = "program = main\nsource = main.cu\nCFLAGS := $(EXTRA_CFLAGS) -DN=64\nrun:\n\t./$(program) 4096 100\n"
PROGRAM = """#include <cstdio>
#include <cstdlib>
@INCLUDE@
__global__ void reverse(float* a) {
  __shared__ float tile[N];
  tile[threadIdx.x] = a[threadIdx.x];
  @BARRIER@
  a[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
int main(int, char** words) {
  float* a = nullptr;
  @CALL@
  cudaMalloc(&a, N * sizeof(float));
  cudaMemset(a, 0, N * sizeof(float));
  reverse<<<1, N>>>(a);
  std::printf("%s %s %s\\n", words[1], words[2], cudaDeviceSynchronize() == cudaSuccess ? "@WORD@" : "oops");
}
"""
KINDS = {  # what is filled in, and what becomes of it
    "right": ({}, "right"), "racy": ({"BARRIER": ""}, "reported"), "wrong": ({"WORD": "FAIL"}, "failed"),
    "library": ({"INCLUDE": "#include <cufft.h>"}, "needs cuFFT"), "broken": ({"CALL": "no_such_call();"}, "not built"),
    "lacking": ({"CALL": "cudaGraphConditionalHandle h; cudaGraphConditionalHandleCreate(&h, nullptr);"}, "lacking"),
    "slow": ({"CALL": "for (volatile int i = 0;;) i = i;"}, "slow"),
    "idle": ({"CALL": "return 0;"}, "unused"),
}


class Outsiders(unittest.TestCase):
    def run_script(self, *arguments, expect=0):
        cache = (BUILD / "CMakeCache.txt").read_text(encoding="utf-8")
        nvcc = re.search(r"^ASSAY_NVCC:\w+=(.*nvcc)$", cache, re.MULTILINE)[1]
        command = [sys.executable, ROOT / "emulator/tests/outsiders/outsiders", "--build", BUILD, "--nvcc", nvcc, "--timeout", "5"]
        result = subprocess.run(list(map(str, [*command, *arguments])), text=True, capture_output=True, timeout=900, check=False)
        self.assertEqual(result.returncode, expect, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def test_it_tells_each_outcome(self):
        with tempfile.TemporaryDirectory(prefix="outsiders-test-") as folder:
            checkout = pathlib.Path(folder)
            for name, (changes, _) in KINDS.items():
                program = checkout / "src" / f"{name}-cuda"
                program.mkdir(parents=True)
                words = {"INCLUDE": "", "BARRIER": "__syncthreads();", "CALL": "", "WORD": "PASS"} | changes
                text = PROGRAM
                for word, value in words.items():
                    text = text.replace(f"@{word}@", value)
                (program / "main.cu").write_text(text, encoding="utf-8")
                (program / "Makefile").write_text(MAKEFILE, encoding="utf-8")
            before = sorted(checkout.rglob("*"))
            table = self.run_script("--csv", checkout.parent / f"{checkout.name}.csv", f"hecbench={checkout}")
            self.assertEqual(before, sorted(checkout.rglob("*")), "a checkout is left as it was")
            listing = checkout.parent / f"{checkout.name}.csv"
            self.addCleanup(listing.unlink)
            rows = {row["program"]: row for row in csv.DictReader(listing.read_text(encoding="utf-8").splitlines())}
        self.assertEqual({name: outcome for name, (_, outcome) in KINDS.items()},
                         {name: row["outcome"] for name, row in rows.items()}, table)
        self.assertIn("| HeCBench | 8 | 1 | 1 | 1 | 1 | 1 | 0 | 0 | 1 | 1 | 1 |", table)
        self.assertRegex(rows["racy"]["detail"], r"(racecheck|initcheck): reverse, main.cu:[68]$")
        self.assertEqual(("16 1", "yes"), (rows["right"]["arguments"], rows["right"]["checks_itself"]))

    def test_nothing_to_run_is_an_error(self):
        self.assertIn("there is no such program", self.run_script("--filter", "^nothing$", f"executables={BUILD}/bin", expect=2))
        self.assertIn("is no FAMILY=CHECKOUT", self.run_script("hecbench=/nonexistent", expect=2))


if __name__ == "__main__":
    unittest.main()
