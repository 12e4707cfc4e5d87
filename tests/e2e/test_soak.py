"""`assay soak` on simulated devices and on the CPU: what it finds, what it leaves, how it ends and goes on."""
import json
import os
import signal
import subprocess
import time
import unittest

from support import ASSAY, AssayTest, children_of, is_gone

PRODUCT = "linear/f32/batch=16,in=32,out=16,bias=0,act=none"
TWO = ("--sim-devices", "2", "--device", "sim", "--out", "out")


class Soak(AssayTest):
    def soak(self, *arguments, expect=0):
        result = self.assay("soak", *arguments, expect=expect)
        return result.stdout + result.stderr

    def of(self, device):
        return [row for row in self.rows("out", "soak.csv") if row["device"] == device]

    def test_right_devices_pass_with_a_statement(self):
        said = self.soak("--for", "1s", "--sim-devices", "1", "--device", "cpu,sim", "--interval", "0.2s", "--out", "out",
                         "--case", PRODUCT, "--case", "limits/stream_copy/f64/n=65536")
        for device in ("cpu", "sim:0"):
            rows = self.of(device)
            self.assertEqual([row["interval"] for row in rows], ["1", "2", "3", "4", "5"])
            for row in rows:
                self.assertEqual((row["status"], row["wrong_elements"]), ("pass", "0"))
                self.assertGreater(int(row["launches"]), 0)
                compared = float(row["products"]) if row["case_id"] == PRODUCT else float(row["copied_bytes"])
                each = 16 * 32 * 16 if row["case_id"] == PRODUCT else 65536 * 8
                self.assertEqual(compared, each * int(row["launches"]), "every launch is compared")
        self.assertEqual(said.count("wrong results per product at 95%"), 2)
        self.assertEqual(said.count("no wrong bit in"), 4)
        self.assertIn("PASSED: 2 of 2 devices passed", said)
        self.assertEqual(json.loads((self.folder / "out" / "run.json").read_text())["exit_code"], 0)

    def test_every_default_case_has_its_turn(self):
        self.soak("--for", "1s", "--sim-devices", "1", "--device", "sim", "--out", "out")
        rows = self.rows("out", "soak.csv")
        self.assertEqual(len({row["case_id"] for row in rows}), len(rows))
        self.assertTrue(any("linear" in row["case_id"] for row in rows))
        self.assertTrue(any("device_memcpy" in row["case_id"] for row in rows))
        self.assertTrue(all(row["status"] == "pass" for row in rows))

    def test_what_is_wrong_in_every_1000th_launch_is_caught(self):
        said = self.soak("--for", "6s", "--interval", "2s", *TWO, "--case", PRODUCT, "--sim-fault",
                         "every_thousandth,device=1,op=linear", expect=1)
        self.assertEqual({row["status"] for row in self.of("sim:0")}, {"pass"})
        wrong = [row for row in self.of("sim:1") if row["status"] == "fail"]
        self.assertTrue(wrong)
        self.assertGreater(int(wrong[0]["wrong_elements"]), 0)
        self.assertRegex(wrong[0]["first_wrong"], r"launch \d+ \[0\] expected 0x[0-9a-f]{8} actual 0x[0-9a-f]{8}")
        self.assertEqual(len(self.of("sim:1")), 3, "it goes on and counts")
        self.assertIn("FAILED: 1 of 2 devices passed", said)

    def test_fail_fast_ends_it(self):
        self.soak("--for", "60s", "--interval", "1s", "--fail-fast", "--sim-devices", "1", "--device", "sim", "--out", "out",
                  "--case", PRODUCT, "--sim-fault", "every_thousandth,op=linear", expect=1)
        self.assertLess(len(self.rows("out", "soak.csv")), 60)

    def test_a_crash_ends_the_soak_of_its_device_alone(self):
        said = self.soak("--for", "1s", "--interval", "0.2s", *TWO, "--case", PRODUCT, "--sim-fault", "segv,device=1", expect=4)
        self.assertEqual([row["status"] for row in self.of("sim:0")], ["pass"] * 5)
        self.assertEqual([row["status"] for row in self.of("sim:1")], ["crash"])
        self.assertIn("INCOMPLETE: crash in interval 1", said)
        self.assertIn("nothing was launched", said)

    def test_a_hang_and_a_lost_device_end_theirs(self):
        for fault, status in (("hang", "timeout"), ("device_lost", "device_lost")):
            with self.subTest(fault):
                self.soak("--for", "1s", "--interval", "0.2s", "--timeout", "1", *TWO, "--case", PRODUCT, "--sim-fault",
                          fault + ",device=1", expect=4)
                self.assertEqual([row["status"] for row in self.of("sim:0")], ["pass"] * 5)
                self.assertEqual([row["status"] for row in self.of("sim:1")], [status])
                subprocess.run(["rm", "-r", self.folder / "out"], check=True)

    def test_mistakes(self):
        self.assertIn("--for", self.soak(expect=2))
        self.assertIn("8h", self.soak("--for", "8 hours", expect=2))
        self.assertIn("only products and copies",
                      self.soak("--for", "1s", "--device", "cpu", "--case", "tensor_ops/exp/f32/n=8", expect=2))
        self.assertIn("no soak.csv", self.soak("--resume", ".", expect=2))
        self.assertIn("--for does not go with --resume", self.soak("--resume", ".", "--for", "1s", expect=2))
        self.soak("--for", "1s", "--device", "cuda:4095", expect=3)
        self.assertIn("no case can soak cpu", self.soak("--for", "1s", "--device", "cpu", "--case",
                                                        "linear/tf32/batch=8,in=8,out=8,bias=0,act=none", expect=3))
        self.assertFalse((self.folder / "assay-soaks").exists(), "nothing began")


class Interrupted(AssayTest):
    ARGUMENTS = ("soak", "--for", "20s", "--interval", "0.5s", *TWO, "--case", PRODUCT)

    def start(self, rows):
        process = subprocess.Popen([ASSAY, *self.ARGUMENTS], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)
        self.addCleanup(process.kill)
        self.wait_until(lambda: self.row_count() >= rows)
        return process

    def row_count(self):
        try:
            return len(self.rows_so_far("out", "soak.csv"))
        except FileNotFoundError:
            return 0

    def wait_until(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, "it never happened")
            time.sleep(0.05)

    def test_ctrl_c_leaves_whole_rows_and_a_statement(self):
        process = self.start(rows=4)
        workers = children_of(process.pid)
        self.assertEqual(len(workers), 2, "both devices at once")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 4, said)
        self.assertIn("no wrong bit in", said)
        self.assertIn("of 40 intervals have rows", said)
        self.assertIn("assay soak --resume out", said)
        self.wait_until(lambda: all(map(is_gone, workers)))

    def test_a_killed_worker_ends_its_device_and_stays_red_when_resumed(self):
        self.ARGUMENTS = ("soak", "--for", "4s", "--interval", "0.5s", *TWO, "--case", PRODUCT)
        process = self.start(rows=4)
        os.kill(children_of(process.pid)[0], signal.SIGKILL)
        said, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4, said)
        rows = self.rows("out", "soak.csv")
        crashed = [row for row in rows if row["status"] == "crash"]
        self.assertEqual(len(crashed), 1)
        self.assertIn("signal 9", crashed[0]["reason"])
        others = [row for row in rows if row["device"] != crashed[0]["device"]]
        self.assertEqual([row["status"] for row in others], ["pass"] * 8)
        said = self.assay("soak", "--resume", "out", expect=4)
        self.assertEqual(len(self.rows("out", "soak.csv")), 16)
        self.assertIn("INCOMPLETE: crash in interval", said.stdout)

    def test_a_killed_soak_is_resumed_for_its_remaining_time(self):
        self.ARGUMENTS = ("soak", "--for", "5s", "--interval", "0.5s", *TWO, "--case", PRODUCT)
        process = self.start(rows=6)
        process.kill()
        process.communicate()
        done = self.rows_so_far("out", "soak.csv")
        said = self.assay("soak", "--resume", "out")
        rows = self.rows("out", "soak.csv")
        self.assertEqual(rows[:len(done)], done)
        keys = [(row["device"], int(row["interval"])) for row in rows]
        self.assertEqual(sorted(keys), [(f"sim:{d}", i) for d in (0, 1) for i in range(1, 11)], "each interval once")
        self.assertTrue(all(float(row["elapsed_s"]) >= float(done[-1]["elapsed_s"]) for row in rows[len(done):]))
        self.assertIn("PASSED: 2 of 2 devices passed", said.stderr)
        sessions = json.loads((self.folder / "out" / "run.json").read_text())["sessions"]
        self.assertEqual(len(sessions), 2)
        again = self.assay("soak", "--resume", "out")
        self.assertEqual(self.rows("out", "soak.csv"), rows, "nothing is left to do")
        self.assertIn("PASSED", again.stderr)


if __name__ == "__main__":
    unittest.main()
