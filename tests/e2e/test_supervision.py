"""Signals, dead workers and dead parents, on the real program."""
import os
import signal
import subprocess
import time
import unittest

from support import ASSAY, AssayTest, children_of, is_gone

# With a worker that takes times, and two that check: the last of them works.
LONG = ("run", "--no-limits", "--device", "cpu", "--lanes", "2", "--out", "out")
WORKERS = 3


class Supervision(AssayTest):
    def start(self):
        """A long run that has its first rows."""
        process = subprocess.Popen([ASSAY, *LONG], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: self.row_count() >= 2)
        return process

    def row_count(self):
        try:
            return len(self.rows_so_far("out"))
        except FileNotFoundError:
            return 0

    def wait_until(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it never happened")
            time.sleep(0.05)

    def test_ctrl_c_leaves_a_valid_directory_and_no_worker(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start()
                workers = children_of(process.pid)
                self.assertEqual(len(workers), WORKERS)
                process.send_signal(number)
                _, error = process.communicate(timeout=30)
                self.assertEqual(process.returncode, 4)
                self.assertIn("interrupted", error)
                self.assertTrue(all(r["status"] == "pass" for r in self.rows("out")))
                self.assertIn("INCOMPLETE", (self.folder / "out" / "summary.md").read_text())
                self.wait_until(lambda: all(map(is_gone, workers)))
                subprocess.run(["rm", "-r", self.folder / "out"], check=True)

    def test_a_killed_worker_costs_one_row(self):
        process = self.start()
        worker = children_of(process.pid)[-1]
        os.kill(worker, signal.SIGSTOP)
        time.sleep(0.5)  # so that it has a trial
        os.kill(worker, signal.SIGKILL)

        def goes_on():
            statuses = [row["status"] for row in self.rows_so_far("out")]
            return "crash" in statuses and len(statuses) >= statuses.index("crash") + 3

        self.wait_until(goes_on)
        crashed = [r for r in self.rows("out") if r["status"] == "crash"]
        self.assertEqual(len(crashed), 1)
        self.assertIn("signal 9", crashed[0]["reason"])
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4)

    def test_a_stopped_worker_times_out(self):
        process = subprocess.Popen([ASSAY, *LONG, "--timeout", "2"], cwd=self.folder, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: self.row_count() >= 2)
        os.kill(children_of(process.pid)[-1], signal.SIGSTOP)
        self.wait_until(lambda: any(r["status"] == "timeout" for r in self.rows_so_far("out")))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)

    def test_a_killed_parent_takes_its_worker_along_and_leaves_whole_rows(self):
        process = self.start()
        workers = children_of(process.pid)
        process.kill()
        process.wait()
        self.wait_until(lambda: all(map(is_gone, workers)))
        self.assertTrue(all(r["replay"] for r in self.rows_so_far("out")), "every row is whole")


class StartUp(AssayTest):
    def test_a_module_that_prints_while_it_is_loaded_does_no_harm(self):
        (self.folder / "noisy.c").write_text(
            '#include <unistd.h>\n__attribute__((constructor)) static void hello(void) { write(1, "Welcome!\\n", 9); }\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-w", "-o", "assay_noisy.so", "noisy.c"], cwd=self.folder, check=True)
        environment = {**os.environ, "ASSAY_BACKEND_PATH": str(self.folder)}
        result = self.assay("devices", env=environment)
        self.assertIn("assay_noisy.so: not loaded", result.stdout)

    def test_a_worker_that_hangs_while_it_starts_dies_with_its_parent(self):
        (self.folder / "stuck.c").write_text(
            '#include <unistd.h>\n__attribute__((constructor)) static void hello(void) { for (;;) pause(); }\n')
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "assay_stuck.so", "stuck.c"], cwd=self.folder, check=True)
        process = subprocess.Popen([ASSAY, "devices"], env={**os.environ, "ASSAY_BACKEND_PATH": str(self.folder)})
        deadline = time.monotonic() + 30
        while not children_of(process.pid):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)
        time.sleep(0.3)
        workers = children_of(process.pid)
        process.kill()
        process.wait()
        while not all(map(is_gone, workers)):
            self.assertLess(time.monotonic(), deadline, "an orphan")
            time.sleep(0.05)


if __name__ == "__main__":
    unittest.main()
