"""Ranks that mpirun starts: one run directory for all, and rows for a rank that dies or comes late."""
import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

from support import ASSAY, AssayTest

# Ranks with CPUs, also where each could have a GPU; mpirun hands its environment on.
os.environ["CUDA_VISIBLE_DEVICES"] = ""
LAUNCHER = ["mpirun", "--oversubscribe", "--allow-run-as-root"]
# Long enough to be caught in the act: an all-reduce a row, timed.
MEASURED = ("run", "--suite", "collectives", "--device", "mpi", "--filter", "ranks=2,", "--profile", "default", "--no-limits")


def processes_of(rank, folder):
    """The processes of this test's job that serve that rank."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            is_ours = os.readlink(process / "cwd") == str(folder) and os.readlink(process / "exe") == os.path.realpath(ASSAY)
        except OSError:
            continue
        if is_ours and b"OMPI_COMM_WORLD_RANK=%d" % rank in environment:
            found.append(int(process.name))
    return found


class Mpi(AssayTest):
    def launch(self, ranks, *arguments, expect=0):
        done = subprocess.run([*LAUNCHER, "-np", str(ranks), ASSAY, *arguments], cwd=self.folder, text=True,
                              capture_output=True, timeout=1500, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, expect, f"{arguments}\n{done.stdout}\n{done.stderr}")
        return done

    def test_four_ranks_leave_one_run_directory_and_all_is_right(self):
        self.launch(4, "run", "--suite", "allreduce,placement", "--profile", "smoke", "--check-only", "--out", "out")
        self.assertEqual([entry.name for entry in self.folder.iterdir() if entry.is_dir()], ["out"])
        rows = self.rows("out")
        self.assertEqual({row["status"] for row in rows}, {"pass"}, [r for r in rows if r["status"] != "pass"][:3])
        self.assertEqual(len(rows), len(self.rows("out", "plan.csv")))
        by_ranks = {row["device"]: row["transport"] for row in rows if row["op"] == "allreduce"}
        self.assertEqual(by_ranks, {"cpu": "gloo-tcp", "mpi:0": "mpi", "mpi:0+mpi:1": "mpi", "mpi:0+mpi:1+mpi:2": "mpi"})
        gradients = {row["device"]: row for row in rows if row["op"] == "distributed_gradient"}
        self.assertEqual(gradients["mpi:0+mpi:1+mpi:2"]["transport"], "mpi")
        self.assertIn("allreduce", gradients["mpi:0+mpi:1+mpi:2"]["implementation"])
        devices = {row["device"]: row["name"] for row in self.rows("out", "devices.csv")}
        self.assertEqual(devices["mpi:3"], "rank 3 of 4 (mpirun)")

    def test_single_device_cases_run_on_each_rank(self):
        self.launch(2, "run", "--profile", "seeds", "--filter", "tensor_ops/add/f32/n=1003", "--device", "mpi", "--out", "out")
        rows = self.rows("out")
        self.assertEqual(sorted((row["device"], row["status"]) for row in rows), [("mpi:0", "pass"), ("mpi:1", "pass")])
        self.assertTrue(all(float(row["time_median_s"]) > 0 for row in rows))

    def test_bandwidths_stand_beside_those_of_gloo(self):
        self.launch(2, "run", "--case", "allreduce/f32/reduce=sum,ranks=2,count=65537", "--no-limits", "--out", "out")
        rows = {row["transport"]: float(row["busbw_bytes_per_s"]) for row in self.rows("out")}
        self.assertEqual(set(rows), {"gloo-tcp", "mpi"})
        self.assertGreater(min(rows.values()), 0)

    def test_more_ranks_than_there_are_is_said(self):
        self.launch(2, "run", "--case", "allreduce/f32/reduce=sum,ranks=3,count=5", "--case",
                    "allreduce/f32/reduce=sum,ranks=2,count=5", "--device", "mpi", "--check-only", "--out", "out")
        self.assertEqual({row["device"]: row["reason"] for row in self.rows("out")},
                         {"mpi:0": "too few devices: 3 ranks on 2 mpi device(s)", "mpi:0+mpi:1": ""})

    def test_a_run_that_asks_nothing_of_the_ranks_lets_them_go(self):
        self.launch(3, "run", "--case", "tensor_ops/add/f32/n=16", "--device", "cpu", "--check-only", "--out", "out")
        self.assertEqual(len(self.rows("out")), 1)

    def test_ranks_of_two_commands_are_no_job(self):
        done = subprocess.run([*LAUNCHER, "-np", "1", ASSAY, "run", "--case", "tensor_ops/add/f32/n=16", "--device", "mpi",
                               "--out", "out", ":", "-np", "1", ASSAY, "run", "--profile", "seeds"], cwd=self.folder, text=True,
                              capture_output=True, timeout=120, stdin=subprocess.DEVNULL)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("the same command line", done.stderr)

    def test_commands_that_each_rank_would_do_by_itself_are_refused(self):
        self.assertIn("not under mpirun", self.launch(2, "selftest", expect=2).stderr)

    def test_what_a_command_reads_is_shown_once(self):
        listed = json.loads(self.launch(3, "list", "--profile", "seeds", "--device", "mpi", "--json").stdout)
        self.assertIn("mpi:0+mpi:1", {trial["device"] for trial in listed["trials"]})
        devices = json.loads(self.launch(3, "devices", "--json").stdout)["devices"]
        self.assertEqual([d["device"] for d in devices if d["backend"] == "mpi"], ["mpi:0", "mpi:1", "mpi:2"])

    def test_rows_name_the_hardware_behind_a_rank(self):
        self.launch(2, "run", "--case", "tensor_ops/add/f32/n=16", "--device", "cpu,mpi", "--check-only", "--out", "out")
        names = {row["device"]: row["device_name"] for row in self.rows("out")}
        self.assertEqual(names["mpi:1"], "rank 1 of 2 (mpirun): " + names["cpu"])
        replays = {row["device"]: row["replay"] for row in self.rows("out")}
        self.assertTrue(replays["mpi:1"].startswith("mpirun -np 2 assay run "), replays["mpi:1"])
        self.assertTrue(replays["cpu"].startswith("assay run "), replays["cpu"])

    def test_a_mistake_is_the_exit_code_of_the_job(self):
        self.launch(2, "run", "--suite", "allreduced", expect=2)

    def test_a_wrong_result_is_the_exit_code_of_the_job(self):
        self.launch(2, "run", "--case", "tensor_ops/add/f32/n=16", "--device", "sim,mpi", "--sim-devices", "1",
                    "--sim-fault", "low_bit", "--check-only", "--out", "out", expect=1)
        self.assertEqual({row["device"]: row["status"] for row in self.rows("out")},
                         {"sim:0": "fail", "mpi:0": "pass", "mpi:1": "pass"})

    def disturbed(self, disturb, *more):
        """A job of which rank 1 is sent a signal once some rows are there. Its end, and the seconds until then."""
        job = subprocess.Popen([*LAUNCHER, "-np", "2", ASSAY, *MEASURED, *more, "--out", "out"], cwd=self.folder,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            deadline = time.monotonic() + 60
            results = self.folder / "out" / "results.csv"
            while not results.exists() or results.read_bytes().count(b"\n") < 3:
                self.assertLess(time.monotonic(), deadline, "no row within a minute")
                time.sleep(0.05)
            begin = time.monotonic()
            for pid in processes_of(1, self.folder):
                os.kill(pid, disturb)
            job.communicate(timeout=60)
            return job.returncode, time.monotonic() - begin
        finally:
            for rank in (0, 1):
                for pid in processes_of(rank, self.folder):
                    os.kill(pid, signal.SIGKILL)
            job.kill()
            job.wait()
            job.stderr.close()

    def expect_rows_for_all(self):
        rows = self.rows("out")
        plan = self.rows("out", "plan.csv")
        self.assertEqual([row["case_id"] for row in rows], [row["case_id"] for row in plan], "none lost, none twice")
        statuses = [row["status"] for row in rows]
        self.assertGreaterEqual(statuses.count("pass"), 2, "completed rows survive")
        broken = [row for row in rows if row["status"] != "pass"]
        self.assertTrue(broken)
        self.assertLessEqual({row["status"] for row in broken}, {"crash", "timeout", "device_lost"})
        run = json.loads((self.folder / "out" / "run.json").read_text(encoding="utf-8"))
        self.assertEqual(run["exit_code"], 4)
        return broken

    def test_a_rank_that_dies_ends_as_rows_and_not_as_a_hang(self):
        code, seconds = self.disturbed(signal.SIGKILL)
        self.assertNotEqual(code, 0)
        self.assertLess(seconds, 30)
        broken = self.expect_rows_for_all()
        print(f"    rank 1 killed: job ended with {code} after {seconds:.1f} s; {broken[0]['status']}: {broken[0]['reason']}")

    def test_a_rank_that_comes_late_ends_as_rows_within_the_limit(self):
        code, seconds = self.disturbed(signal.SIGSTOP, "--timeout", "3")
        self.assertNotEqual(code, 0)
        self.assertLess(seconds, 30)
        broken = self.expect_rows_for_all()
        self.assertEqual(broken[0]["status"], "timeout")
        print(f"    rank 1 stopped: job ended with {code} after {seconds:.1f} s; {broken[0]['status']}: {broken[0]['reason']}")


if __name__ == "__main__":
    unittest.main()
