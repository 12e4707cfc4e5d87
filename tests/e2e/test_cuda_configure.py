"""Whether the CUDA backend is built, and for which GPUs, as CMake decides it on machines of several kinds."""
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
NVCC = "#!/bin/sh\nfor n in 75 80 86 89 90 100 103 120; do echo compute_$n; done\n"
OLD_NVCC = "#!/bin/sh\nfor n in 70 75 80 86 89 90; do echo compute_$n; done\n"
SMI = "#!/bin/sh\necho 'GPU 0: NVIDIA H100 (UUID: GPU-1)'\n"
BROKEN_SMI = "#!/bin/sh\necho 'NVIDIA-SMI has failed' >&2\nexit 9\n"


class Configure(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="assay-configure-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "bin").mkdir()

    def put(self, path, script):
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script)
        file.chmod(0o755)
        return file

    def configure(self, *, fails=False, cuda="AUTO", architectures="", **environment):
        """What is decided on a machine that has nothing but the test's folder."""
        script = self.folder / "decide.cmake"
        script.write_text(f"cmake_minimum_required(VERSION 3.25)\nset(ASSAY_CUDA {cuda})\nset(ASSAY_CUDA_ARCHITECTURES \"{architectures}\")\n"
                          f"set(ASSAY_CUDA_TOOLKITS \"{self.folder}/usr/local\")\n"
                          f"include({ROOT}/scripts/cmake/assay_find_nvcc.cmake)\n"
                          "message(STATUS \"nvcc=${assay_nvcc} for=${assay_cuda_architectures}\")\n")
        path = {"PATH": f"{self.folder}/bin:/nowhere"}
        done = subprocess.run([shutil.which("cmake"), "-P", script], env=path | environment, text=True, capture_output=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode != 0, fails, done.stdout + done.stderr)
        if fails:
            return " ".join(done.stderr.split())
        return re.search(r"nvcc=(\S*) for=(\S*)", done.stdout).groups()

    def test_without_a_gpu_it_is_left_out_unless_asked_for(self):
        nvcc = self.put("bin/nvcc", NVCC)
        self.assertEqual(self.configure(), ("", ""))
        self.put("bin/nvidia-smi", BROKEN_SMI)
        self.assertEqual(self.configure(), ("", ""))
        everything = "75-real;80-real;86-real;89-real;90-real;100-real;120"
        for cuda in ("ON", "NVCC"):
            self.assertEqual(self.configure(cuda=cuda), (str(nvcc), everything), "never intermediate code alone")
        self.assertEqual(self.configure(cuda="OFF"), ("", ""))

    def test_with_a_gpu_it_is_built_for_that(self):
        nvcc = self.put("bin/nvcc", NVCC)
        self.put("bin/nvidia-smi", SMI)
        self.assertEqual(self.configure(), (str(nvcc), "native"))
        self.assertEqual(self.configure(architectures="80"), (str(nvcc), "80"))
        self.assertEqual(self.configure(architectures="packaged")[1].count("real"), 6)

    def test_a_toolkit_is_asked_only_for_what_it_knows(self):
        self.put("bin/nvcc", OLD_NVCC)
        self.assertEqual(self.configure(cuda="ON")[1], "75-real;80-real;86-real;89-real;90")

    def test_nvcc_is_found_outside_path(self):
        self.put("bin/nvidia-smi", SMI)
        older = self.put("usr/local/cuda-9.2/bin/nvcc", NVCC)
        self.assertEqual(self.configure()[0], str(older))
        newer = self.put("usr/local/cuda-13.0/bin/nvcc", NVCC)
        self.assertEqual(self.configure()[0], str(newer))
        usual = self.put("usr/local/cuda/bin/nvcc", NVCC)
        self.assertEqual(self.configure()[0], str(usual))
        for variable in ("CUDA_PATH", "CUDA_HOME"):
            own = self.put(f"{variable}/bin/nvcc", NVCC)
            self.assertEqual(self.configure(**{variable: f"{self.folder}/{variable}"})[0], str(own))
        self.assertEqual(self.configure(CUDACXX="/opt/nvcc")[0], "/opt/nvcc")

    def test_a_gpu_without_nvcc_stops_with_the_remedies(self):
        self.put("bin/nvidia-smi", SMI)
        error = self.configure(fails=True)
        for remedy in ("install the CUDA toolkit", "CMAKE_CUDA_COMPILER", "-DASSAY_CUDA=OFF"):
            self.assertIn(remedy, error)
        self.assertEqual(self.configure(cuda="OFF"), ("", ""))

    def test_on_without_nvcc_stops(self):
        self.assertIn("ASSAY_CUDA=ON needs nvcc", self.configure(fails=True, cuda="ON"))
        self.assertEqual(self.configure(cuda="NVCC"), ("", ""))


class Headers(unittest.TestCase):
    def test_what_the_toolkit_may_lack_is_not_included(self):
        for source in (ROOT / "kernels" / "cuda").iterdir():
            self.assertNotRegex(source.read_text(encoding="utf-8"), r"#include <(nccl|nvml)", source.name)


if __name__ == "__main__":
    unittest.main()
