"""Whether the CUDA backend is built, and for which GPUs, as CMake decides it on machines of several kinds."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def nvcc_of(release, *architectures):
    """A compiler that tells its release, and what it compiles for."""
    known = "".join(f"echo compute_{n}\n" for n in architectures)
    return f"#!/bin/sh\nif [ $1 = --version ]; then echo 'release {release}, V{release}.48'; exit; fi\n{known}"


NVCC = nvcc_of("13.0", 75, 80, 86, 89, 90, 100, 103, 120)
OLD_NVCC = nvcc_of("12.8", 70, 75, 80, 86, 89, 90)
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
        older = self.put("usr/local/cuda-12.9/bin/nvcc", nvcc_of("12.9"))
        self.assertEqual(self.configure()[0], str(older))
        usual = self.put("usr/local/cuda/bin/nvcc", NVCC)
        self.assertEqual(self.configure()[0], str(usual))
        self.put("bin/nvcc", nvcc_of("12.0"))
        self.assertEqual(self.configure()[0], str(usual), "newer than the one in PATH")
        newer = self.put("usr/local/cuda-13.1/bin/nvcc", nvcc_of("13.1"))
        self.assertEqual(self.configure()[0], str(newer))
        for variable in ("CUDA_PATH", "CUDA_HOME"):
            own = self.put(f"{variable}/bin/nvcc", NVCC)
            self.assertEqual(self.configure(**{variable: f"{self.folder}/{variable}"})[0], str(own))
        named = self.put("opt/nvcc", OLD_NVCC)
        self.assertEqual(self.configure(CUDACXX=str(named))[0], str(named), "as named, though older")

    def test_an_old_toolkit_stops_or_is_left_out(self):
        old = self.put("bin/nvcc", nvcc_of("12.0"))
        self.assertEqual(self.configure(cuda="NVCC"), ("", ""))
        for way in ({"cuda": "ON"}, {"cuda": "ON", "CUDACXX": str(old)}):
            error = self.configure(fails=True, **way)
            self.assertIn(f"The CUDA toolkit of {old} is 12.0, and the CUDA backend needs 12.8 or newer", error)
        self.put("bin/nvidia-smi", SMI)
        error = self.configure(fails=True)
        for remedy in ("install one", "CMAKE_CUDA_COMPILER", "-DASSAY_CUDA=OFF"):
            self.assertIn(remedy, error)
        self.put("bin/nvcc", "#!/bin/sh\nexit 1\n")
        self.assertIn("tells no version", self.configure(fails=True))

    def test_a_gpu_without_nvcc_stops_with_the_remedies(self):
        self.put("bin/nvidia-smi", SMI)
        error = self.configure(fails=True)
        for remedy in ("install the CUDA toolkit", "CMAKE_CUDA_COMPILER", "-DASSAY_CUDA=OFF"):
            self.assertIn(remedy, error)
        self.assertEqual(self.configure(cuda="OFF"), ("", ""))

    def test_on_without_nvcc_stops(self):
        self.assertIn("ASSAY_CUDA=ON needs nvcc", self.configure(fails=True, cuda="ON"))
        self.assertEqual(self.configure(cuda="NVCC"), ("", ""))


class NewestCMake(unittest.TestCase):
    def test_joins_no_sources_of_cuda(self):
        """Since 3.31 a unity build takes .cu files as well."""
        with tempfile.TemporaryDirectory(prefix="assay-cmake-") as folder:
            subprocess.run([sys.executable, "-m", "venv", f"{folder}/venv"], check=True)
            got = subprocess.run([f"{folder}/venv/bin/pip", "install", "-q", "cmake>=3.31"], text=True, capture_output=True,
                                 check=False)
            if got.returncode != 0:
                self.skipTest(f"no newer CMake can be had: {got.stderr[-200:]}")
            done = subprocess.run([f"{folder}/venv/bin/cmake", "--preset", "ci", "-B", f"{folder}/build"], cwd=ROOT,
                                  text=True, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            rules = pathlib.Path(folder, "build", "build.ninja").read_text(encoding="utf-8")
            self.assertIn("Unity/unity_0_cxx", rules)
            if "CUDA backend by" in done.stdout:
                self.assertIn("copies.cu", rules)
            self.assertNotRegex(rules, r"Unity/unity_\d+_cu")


class Headers(unittest.TestCase):
    def test_what_the_toolkit_may_lack_is_not_included(self):
        for source in (ROOT / "kernels" / "cuda").iterdir():
            self.assertNotRegex(source.read_text(encoding="utf-8"), r"#include <(nccl|nvml)", source.name)


if __name__ == "__main__":
    unittest.main()
