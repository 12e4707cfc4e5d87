"""The process of kernels of others: what its memory, its start, its end and its state may not do."""
import os
import pathlib
import re
import subprocess
import textwrap
import time

from support import ASSAY, AssayTest

ROOT = pathlib.Path(__file__).resolve().parents[2]
ADD = "tensor_ops/add/f32/n=1003"
LIBRARY = """
#define _GNU_SOURCE
#include <assay_kernel.h>
#include <fcntl.h>
#include <fenv.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
static int64_t n;
static void add(const float* a, const float* b, float* y) { for (int64_t i = 0; i < n; ++i) y[i] = a[i] + b[i]; }
%(before)s
static int32_t create(const assay_problem* problem, void** kernel) {
  n = 1;
  for (int i = 0; i < problem->outputs[0].dimensions; ++i) n *= problem->outputs[0].shape[i];
  *kernel = &n;
  return ASSAY_OK;
}
static int32_t launch(void* kernel, const void* const* in, void* const* out, void* stream) {
  const float *a = in[0], *b = in[1];
  float* y = out[0];
  %(launch)s
  return ASSAY_OK;
}
static void destroy(void* kernel) {}
static const char* last_error(void) { return ""; }
const assay_kernel_table* assay_kernels(void) {
  static const assay_offer offers[] = {{"add", "f32", 0}};
  static const assay_kernel_table table = {ASSAY_KERNEL_VERSION, "tricks", offers, 1, create, launch, destroy, last_error, NULL, NULL};
  return &table;
}
"""
HONEST = "add(a, b, y);"
# Protects its output, and computes when somebody looks.
LAZY = """
static const float *lazy_a, *lazy_b;
static float* lazy_y;
static void protect(int protection) {
  const uintptr_t begin = (uintptr_t)lazy_y & ~(uintptr_t)4095, end = ((uintptr_t)(lazy_y + n) + 4095) & ~(uintptr_t)4095;
  mprotect((void*)begin, end - begin, protection);
}
static void compute(int signal) {
  (void)signal;
  protect(PROT_READ | PROT_WRITE);
  add(lazy_a, lazy_b, lazy_y);
}
__attribute__((constructor)) static void begin(void) { signal(SIGSEGV, compute); }
"""
LAZY_LAUNCH = "lazy_a = a, lazy_b = b, lazy_y = y; protect(PROT_NONE);"
# Runs a program with a system call refused, as a container may.
WITHOUT_CALL = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char** argv) {
  struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                               BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
                               BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  struct sock_fprog program = {sizeof code / sizeof *code, code};
  (void)argc;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) return 99;
  execv(argv[1], argv + 1);
  return 98;
}
"""


class KernelProcess(AssayTest):
    def compile(self, name, text, *flags):
        (self.folder / f"{name}.c").write_text(text, encoding="utf-8")
        subprocess.run([os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wno-unused", "-Werror", f"-I{ROOT}/kernels/providers", f"{name}.c", "-o", name,
                        *flags, "-lm"], cwd=self.folder, check=True)
        return f"./{name}"

    def library(self, launch=HONEST, before="", name="tricks.so"):
        return self.compile(name, LIBRARY % {"before": textwrap.dedent(before), "launch": launch}, "-shared", "-fPIC", "-fopenmp")

    def run_row(self, library, *arguments, expect, through=()):
        self.runs = getattr(self, "runs", 0) + 1
        out = f"out{self.runs}"
        words = ["run", "--kernels", library, "--device", "cpu", "--no-limits", "--case", ADD, "--out", out, *arguments]
        self.result = subprocess.run([*through, ASSAY, *words], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(expect, self.result.returncode, self.result.stdout + self.result.stderr)
        row, = self.rows(out)
        return row


class Memory(KernelProcess):
    def test_an_output_that_is_computed_when_it_is_read_is_an_error(self):
        row = self.run_row(self.library(LAZY_LAUNCH, LAZY), "--check-only", expect=4)
        self.assertEqual("error", row["status"])
        self.assertIn("memory of the kernels' process: it has protected pages that hold tensors", row["reason"])

    def test_messages_serve_where_the_system_forbids_to_read_it(self):
        through = [self.compile("without_call", WITHOUT_CALL)]
        self.assertEqual("pass", self.run_row(self.library(), expect=0, through=through)["status"])

    def test_a_process_that_hides_is_an_error(self):
        if os.geteuid() == 0:
            self.skipTest("nothing is hidden from the superuser")
        row = self.run_row(self.library("prctl(PR_SET_DUMPABLE, 0);" + HONEST), "--check-only", expect=4)
        self.assertIn("it hides its memory", row["reason"])


class Start(KernelProcess):
    def refused(self, constructor, because, within_s=30):
        library = self.library(before="__attribute__((constructor)) static void begin(void) { %s }" % constructor)
        begin_s = time.monotonic()
        error = self.assay("run", "--kernels", library, "--device", "cpu", "--case", ADD, expect=2).stderr
        self.assertRegex(error, re.escape(f"--kernels {library}: ") + because)
        self.assertLess(time.monotonic() - begin_s, within_s)

    def test_a_library_that_hangs_while_it_is_loaded(self):
        self.refused("for (;;) pause();", r"loading it has not ended within 10 s")

    def test_a_library_that_ends_its_process(self):
        self.refused("exit(3);", r"its process ended with exit code 3 while it was loaded")
        self.refused("abort();", r"its process was ended by signal 6 \(Aborted\) while it was loaded")

    def test_a_library_that_closes_all_descriptors(self):
        self.refused("for (int i = 0; i < 100; ++i) close(i); for (;;) pause();", r"its process closed its descriptors while it was loaded")

    def test_a_python_file_that_ends_its_process(self):
        (self.folder / "mine.py").write_text("import os\nos._exit(7)\n", encoding="utf-8")
        error = self.assay("run", "--kernels", "mine.py", "--device", "cpu", "--case", ADD, expect=2).stderr
        self.assertIn("--kernels mine.py: its process ended with exit code 7 while it was loaded", error)


class End(KernelProcess):
    FORKS = """
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      prctl(PR_SET_NAME, "left_behind");
      for (int i = 3; i < 100; ++i) close(i);
      for (;;) pause();
    }"""

    def left(self):
        names = subprocess.run(["ps", "-eo", "comm"], capture_output=True, text=True, check=True).stdout
        return names.split().count("left_behind")

    def test_processes_that_are_left_behind_are_ended_and_named(self):
        before = self.left()
        for launch in (HONEST, "abort();"):
            library = self.library("static int forked; if (!forked++) {" + self.FORKS + "}" + launch)
            row = self.run_row(library, "--check-only", expect=0 if launch == HONEST else 4)
            self.assertEqual("pass" if launch == HONEST else "crash", row["status"])
            self.assertRegex(self.result.stderr, r"ended process \d+ \(left_behind\), which kernels of others had left behind")
            self.assertEqual(before, self.left())

    def test_also_when_the_library_is_loaded(self):
        before = self.left()
        library = self.library(before="__attribute__((constructor)) static void begin(void) {" + self.FORKS + "}")
        self.run_row(library, "--check-only", expect=0)
        self.assertRegex(self.result.stderr, r"ended process \d+ \(left_behind\)")
        self.assertEqual(before, self.left())


class State(KernelProcess):
    def leaves(self, launch, what, *arguments):
        row = self.run_row(self.library(HONEST + launch), *arguments, expect=1)
        self.assertEqual(("fail", "process_state"), (row["status"], row["caught_by"]), row["reason"])
        self.assertRegex(row["reason"], "the launch leaves " + what)

    def test_arithmetic(self):
        self.leaves("fesetround(FE_UPWARD);", "another rounding mode than to nearest in", "--check-only")

    def test_threads(self):
        self.leaves("extern void omp_set_num_threads(int); omp_set_num_threads(17);", "OpenMP with 17 threads, not", "--check-only")

    def test_signals(self):
        self.leaves("sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, NULL);", r"signal 1 \(Hangup\) blocked", "--check-only")
        self.leaves("signal(SIGSEGV, SIG_IGN);", r"another handler of signal 11 \(Segmentation fault\)", "--check-only")

    def test_priority(self):
        self.leaves("setpriority(PRIO_PROCESS, 0, 3);", "its process with priority 3, not", "--check-only")
        self.leaves("setpriority(PRIO_PROCESS, (id_t)getppid(), 3);", "the judge with priority 3, not", "--check-only")

    def test_processors_of_the_judge(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("there is one processor")
        self.leaves("cpu_set_t one; CPU_ZERO(&one); CPU_SET(0, &one); sched_setaffinity(getppid(), sizeof one, &one);",
                    "the judge on 1 processors", "--check-only")

    def test_only_while_timed(self):
        self.leaves("static int launches; if (++launches > 200) setpriority(PRIO_PROCESS, 0, 3);", "its process with priority 3, not")
