"""Finds the programs of a checkout that the user has. Each family is a function that yields Programs."""
import dataclasses
import os
import pathlib
import re
import subprocess
import typing


@dataclasses.dataclass
class Program:
    family: str
    name: str
    folder: pathlib.Path  # where it is run
    sources: list  # paths
    flags: list = dataclasses.field(default_factory=list)
    arguments: list = dataclasses.field(default_factory=list)
    needs: str = ""  # a library that the emulator has not
    built: pathlib.Path = None  # an executable that is there already
    edits: dict = dataclasses.field(default_factory=dict)  # of copies of the sources: what a pattern becomes
    if_slow: dict = dataclasses.field(default_factory=dict)  # further edits
    modules: dict = dataclasses.field(default_factory=dict)  # files that it loads: the source of each
    verify: typing.Callable = None  # tells from what it wrote to {out} what is wrong; "" if nothing


# What programs link or include, and who makes it.
LIBRARIES = {
    "cublasXt": "cuBLASXt", "cufft": "cuFFT", "curand": "cuRAND", "cusparse": "cuSPARSE", "cusolver": "cuSOLVER", "cudnn": "cuDNN",
    "nvrtc": "NVRTC", "npp": "NPP", "nvjpeg": "nvJPEG", "nccl": "NCCL", "mpi.h": "MPI", "nvshmem": "NVSHMEM", "GL/": "OpenGL",
    "helper_gl": "OpenGL", "nvgraph": "nvGRAPH", "cutensor": "cuTENSOR", "EGL": "EGL", "nvscibuf": "NvSci", "gsl": "GSL",
    "boost": "Boost", "cuda_egl": "EGL", "vulkan": "Vulkan", "cuda_d3d": "Direct3D", "nvvm": "libNVVM",
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def library_of(files):
    """The first library that an include names."""
    for file in files:
        for name in INCLUDE.findall(file.read_text(errors="replace")):
            for part, library in LIBRARIES.items():
                if name.startswith(part) or f"/{part}" in name:
                    return library
    return ""


def variable(makefile, name):
    """The words of a make variable, continued lines and all."""
    found = re.search(rf"^{name}\s*:?=\s*((?:.*\\\n)*.*)$", makefile, re.M)
    return found.group(1).replace("\\\n", " ").split() if found else []


def hecbench(checkout):
    for folder in sorted((checkout / "src").glob("*-cuda")):
        makefile = folder / "Makefile"
        if not makefile.exists():
            continue
        text = makefile.read_text(errors="replace")
        sources = [folder / word for word in variable(text, "source") + variable(text, "SOURCE")
                   if word.endswith((".cu", ".cpp", ".c", ".cc"))]
        sources = [source for source in sources if source.exists()] or sorted(folder.glob("*.cu"))
        flags = [f"-I{folder}"]
        for word in re.findall(r"-[ID]\S+", " ".join(variable(text, "CFLAGS") + variable(text, "EXTRA_CFLAGS"))):
            if "$" not in word:
                flags.append(f"-I{folder / word[2:]}" if word.startswith("-I") else word)
        if re.search(r"-rdc=true|\s-dc\s", text):
            flags.append("-rdc=true")
        run = re.search(r"\./\$\(program\)(.*)$", text, re.M)
        arguments = run.group(1).split() if run else []
        headers = [file for file in folder.glob("*") if file.suffix in (".h", ".cuh", ".hpp")]
        linked = " ".join(variable(text, "LDFLAGS"))
        needs = next((library for part, library in LIBRARIES.items() if f"-l{part}" in linked), "")
        flags += ["--extended-lambda", "--expt-relaxed-constexpr", "-Xcompiler=-fopenmp"]
        yield Program("HeCBench", folder.name.removesuffix("-cuda"), folder, sources, flags, arguments,
                      needs or library_of([*sources, *headers]))


# How often a sample times itself, and sizes that are compiled in.
SMALL_SAMPLE = {
    r"\b(nIter|nreps|iterations|numRuns|iters_timing|testIterations|numKernelRuns|NUM_ITERATIONS|NUM_REPS|iCycles)(\s*=\s*|\s+)\d+":
        r"\1\g<2>1",
    r"\b([MNK]_TILES)(\s+)\d+": r"\1\g<2>16", r"\b1 << 2\d\b": "1 << 16", r"\b16 \* 1024 \* 1024\b": "64 * 1024",
    r"\bOPT_N(\s*)= \d+": r"OPT_N\1= 4096", r"\bMEM_SIZE(\s*)= \d+": r"MEM_SIZE\1= 500000",
    r"\b(MATRIX_SIZE_[XY]) = \d+": r"\1 = 512", r"\b64 \* 1048576\b": "1048576", r"\b13 \* 1048576 / 2\b": "13 * 16384",
    r"\bnumElements = \d+": "numElements = 65536", r"\bmat_size = \d+": "mat_size = 256",
    r"\b(image[WH])(\s*)= 3072": r"\1\2= 256", r"\bnumValues(\s*)= \d+": r"numValues\1= 4096",
}


def cuda_samples(checkout):
    for listing in sorted(checkout.glob("Samples/[0-6]_*/*/CMakeLists.txt")):
        folder = listing.parent
        if any(above.name == "bin" for above in folder.parents):
            continue
        sources = sorted([*folder.glob("*.cu"), *folder.glob("*.cpp"), *folder.glob("*.c")])
        if not sources:
            continue
        text = listing.read_text(errors="replace")
        linked = [library for part, library in LIBRARIES.items() if re.search(rf"CUDA::\w*{part}", text)]
        modules = {name: folder / f"{stem}.cu" for name, stem in re.findall(r"((\w+)64\.fatbin)", text)}
        yield Program("CUDA samples", folder.name, folder, sources, [f"-I{checkout / 'Common'}", f"-I{folder / 'inc'}",
                      f"-I{folder}", "-Xcompiler=-fopenmp", *(["-rdc=true"] if "cudadevrt" in text else [])], [],
                      next(iter(linked), "") or library_of([*sources, *folder.glob("*.h")]), if_slow=SMALL_SAMPLE, modules=modules)


# Sizes of a model, and how often a kernel is timed.
SMALL_MODEL = {r"\bint B = \d+;": "int B = 2;", r"\bint T = \d+;": "int T = 128;", r"\bint C = \d+;": "int C = 256;",
               r"\bint OC = \d+ \* 4;": "int OC = 256 * 4;", r"\bint V = \d+;": "int V = 500;", r"\bint Vp = \d+;": "int Vp = 512;",
               r"\bint NH = \d+;": "int NH = 4;",
               r"repeat_times = \d+;": "repeat_times = 1;"}


def llm_c(checkout):
    folder = checkout / "dev/cuda"
    for source in sorted(folder.glob("*.cu")):
        kernels = sorted({int(number) for number in re.findall(r"case (\d\d?):", source.read_text(errors="replace"))} - {16, 32, 64})
        for kernel in kernels or [1]:
            yield Program("llm.c", f"{source.stem} {kernel}", folder, [source], [f"-I{folder}"], [str(kernel)],
                          library_of([source]), edits=SMALL_MODEL)


def babelstream(checkout):
    source = checkout / "src"
    yield Program("BabelStream", "cuda-stream", source, [source / "main.cpp", source / "cuda/CUDAStream.cu"],
                  [f"-I{source}", f"-I{source / 'cuda'}", "-DCUDA", "-DMEM=DEFAULT"],
                  ["--arraysize", "65536", "--numtimes", "2"])


def sgemm_cuda(checkout):
    for kernel in range(1, 13):
        yield Program("SGEMM_CUDA", f"kernel {kernel}", checkout, [checkout / "sgemm.cu", checkout / "src/runner.cu"],
                      [f"-I{checkout / 'src'}"], [str(kernel)], library_of([checkout / "sgemm.cu"]),
                      edits={r"SIZE = \{[^}]*\}": "SIZE = {128, 256}", r"repeat_times = \d+;": "repeat_times = 1;"})


# Options that an example takes, or does not look at.
SMALL_PRODUCT = ["--m=256", "--n=256", "--k=128", "--a_rows=128", "--a_cols=128", "--a_ell_num_columns=64", "--batch-count=2",
                 "--batch=1", "--iterations=1"]


def cutlass(checkout):
    """Examples of one file without an architecture of their own, or for Ampere or Hopper."""
    for source in sorted(checkout.glob("examples/[0-6]*/*.cu")):
        if re.search("blackwell|volta|turing", source.parent.name) or len(list(source.parent.glob("*.cu"))) > 1:
            continue
        newer = ["-gencode", "arch=compute_90a,code=compute_90a"] if "hopper" in source.parent.name else []
        yield Program("CUTLASS", source.stem, source.parent, [source], [f"-I{checkout / folder}" for folder in
                      ("include", "tools/util/include", "tools/library/include", "examples/common")] +
                      ["--expt-relaxed-constexpr", *newer], SMALL_PRODUCT, library_of([source]),
                      if_slow={r"\b(length_[mnk]) = \d+": r"\1 = 256", r"problem_size\(4096, 4096, 8192\)": "problem_size(256, 256, 128)"})


def wrong_checksum(out):
    """Each line of a variant has its checksum and how it differs from that of Base_Seq."""
    rows = re.findall(r"^(\w+-\w+) +(\S+) +(\S+) *$", (out / "RAJAPerf-checksum.txt").read_text(), re.M)
    wrong = [f"{variant} differs by {difference}" for variant, checksum, difference in rows
             if not abs(float(difference)) <= 1e-5 * max(1, abs(float(checksum)))]
    if not any("CUDA" in variant for variant, _, _ in rows):
        wrong.append("no CUDA variant ran")
    return next(iter(wrong), "")


def raja_perf(executable):
    """Each kernel of a build of RAJAPerf: it compares checksums of its CUDA variants with the sequential one."""
    listed = subprocess.run([executable, "--print-kernels"], capture_output=True, text=True, check=True).stdout
    for kernel in re.findall(r"^\w+_\w+$", listed, re.M):
        yield Program("RAJAPerf", kernel, executable.parent, [], [], ["-k", kernel, "-v", "Base_Seq", "Base_CUDA", "RAJA_CUDA",
                      "--npasses", "1", "--size", "1000", "--checkrun", "1", "--outdir", "{out}"], built=executable,
                      verify=wrong_checksum)


def executables(folder):
    """Each program of a folder, whose name is the family's."""
    for file in sorted(folder.iterdir()):
        if file.is_file() and os.access(file, os.X_OK) and ".so" not in file.name:
            yield Program(folder.name, file.name, folder, [], built=file)


FAMILIES = {"executables": executables, "raja-perf": raja_perf, "cutlass": cutlass, "hecbench": hecbench, "cuda-samples": cuda_samples, "llm.c": llm_c, "babelstream": babelstream,
            "sgemm": sgemm_cuda}
