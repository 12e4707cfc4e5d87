"""Commands, their output and their errors."""
import json
import os
import subprocess
import unittest

from support import ABSENT, ASSAY, AssayTest

# What a terminal obeys (clear the screen; a title; C1's CSI) and what a CI system does.
HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\n::error::forged\n  ::stop-commands::x\n##[error]y\x7f\n"


class Help(AssayTest):
    def test_words_behind_dashes_are_not_lost(self):
        said = self.assay("list", "--profile", "seeds", "--", "--suite", "linear", expect=2).stderr
        self.assertIn("--suite", said)

    def test_every_command_explains_itself(self):
        self.assertIn("Examples:", self.assay("--help").stdout)
        for command in ("run", "list", "devices", "machines"):
            self.assertIn("--help", self.assay(command, "--help").stdout)
        self.assertIn("--check-only", self.assay("run", "--help").stdout)

    def test_the_worker_is_not_for_people(self):
        self.assertNotIn("worker", self.assay("--help").stdout)

    def test_version(self):
        self.assertRegex(self.assay("--version").stdout, r"^assay \d+\.\d+\.\d+ \(\S+, \w+\)\n$")

    def test_nothing_asked_is_a_usage_error(self):
        self.assertIn("Examples:", self.assay(expect=2).stderr)


class Devices(AssayTest):
    def test_the_cpu_is_described(self):
        text = self.assay("devices").stdout
        self.assertRegex(text, r"\Adevice  name .*\ncpu  ")
        self.assertIn("oneDNN", text)
        self.assertIn("memory_total_bytes", text)

    def test_json(self):
        document = json.loads(self.assay("devices", "--json", "--sim-devices", "2").stdout)
        devices = {d["device"]: d for d in document["devices"] if d["backend"] in ("cpu", "sim")}
        self.assertEqual(list(devices), ["cpu", "sim:0", "sim:1"])
        self.assertGreater(devices["cpu"]["memory_total_bytes"], 1 << 28)
        self.assertIn("no hardware", devices["sim:0"]["name"])


    def test_without_proc_they_say_so(self):
        (self.folder / "empty").mkdir()
        hidden = 'mount --bind empty /proc || exit 77; exec "$0" devices'
        done = subprocess.run(["unshare", "--mount", "sh", "-c", hidden, ASSAY], cwd=self.folder, capture_output=True,
                              text=True, check=False)
        if done.returncode in (1, 77):
            self.skipTest("this user may mount nothing")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("assay: /proc is not here", done.stderr)
        self.assertIn("mount -t proc proc /proc", done.stderr)

    def test_binding_threads_takes_no_core_away(self):
        """OpenMP ties the first thread of the parent too, whose workers would inherit that one core."""
        def cores(**environment):
            document = json.loads(self.assay("devices", "--json", env={**os.environ, **environment}).stdout)
            return document["devices"][0]["compute_units"]

        everywhere = len(os.sched_getaffinity(0))
        self.assertEqual(cores(OMP_PROC_BIND="true"), everywhere)
        self.assertEqual(cores(OMP_PROC_BIND="true", OMP_PLACES="{%d}" % min(os.sched_getaffinity(0))), 1)


class TextOfOthers(AssayTest):
    """It is shown on a terminal and in a log, never obeyed."""

    def assert_harmless(self, text):
        self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
        self.assertNotRegex(text, r"(?m)^\s*::(?!error title=|warning title=|notice title=)")
        self.assertNotIn("##[", text)

    def test_a_program_that_is_no_worker(self):
        other = self.folder / "other"
        other.write_text(f"#!/bin/sh\nprintf '%s' '{HOSTILE[:-1]}' >&2\nexit 3\n", encoding="utf-8", newline="")
        other.chmod(0o755)
        error = self.assay("ab", "--base", other, "--case", "tensor_ops/add/f32/n=4096", expect=2).stderr
        self.assertIn("\\x7f", error)
        self.assert_harmless(error)

    def test_names_of_the_command_line(self):
        case = ("--case", "tensor_ops/add/f32/n=3", "--device", "cpu", "--check-only")
        for github in ("false", "true"):
            with self.subTest(github=github):
                result = self.assay("run", *case, "--out", f"{github}{HOSTILE}", env={**os.environ, "GITHUB_ACTIONS": github})
                self.assert_harmless(result.stdout + result.stderr)
        self.assert_harmless(self.assay("run", "--case", HOSTILE, expect=2).stderr)
        self.assert_harmless(self.assay("list", "--filter", HOSTILE + "[", expect=2).stderr)

    def test_what_stands_in_a_run_directory(self):
        for out in ("a", "b"):
            self.assay("run", "--case", "tensor_ops/add/f32/n=3", "--device", "cpu", "--check-only", "--out", out)
        results = self.folder / "b" / "results.csv"
        text = results.read_bytes().decode().replace("tensor_ops/add/f32/n=3,", '"' + HOSTILE + '",')
        results.write_bytes(text.replace(",pass,", ",fail,").encode())
        compared = self.assay("compare", "a", "b", expect=1)
        self.assertIn("forged", compared.stdout + compared.stderr)
        self.assert_harmless(compared.stdout + compared.stderr)
        history = self.assay("history", "b", expect=3)
        self.assert_harmless(history.stdout + history.stderr)


class Listing(AssayTest):
    def test_ids_are_in_json_and_text_alike(self):
        selection = ("--suite", "linear", "--profile", "seeds", "--device", "cpu")
        trials = self.trials(*selection)
        self.assertGreater(len(trials), 24)
        lines = self.assay("list", *selection).stdout.splitlines()
        self.assertEqual(lines, [f"cpu  {t['case_id']}" for t in trials])
        self.assertEqual(trials[0], {
            "case_id": "linear/f32/batch=2,in=3,out=1,bias=0,act=none", "suite": "linear", "op": "linear",
            "dtype": "f32", "params": {"batch": 2, "in": 3, "out": 1, "bias": 0, "act": "none"},
            "device": "cpu", "timing": ""})

    def test_simulated_devices_only_when_asked_for(self):
        devices = {t["device"] for t in self.trials("--profile", "seeds")}
        self.assertIn("cpu", devices)
        self.assertFalse([device for device in devices if "sim" in device])
        devices = {t["device"] for t in
                   self.trials("--profile", "seeds", "--sim-devices", "2", "--device", "sim")}
        self.assertEqual(devices, {"sim:0", "sim:1", "sim:0+sim:1", "sim:0>sim:1", "sim:1>sim:0", "sim:0<>sim:1"})


class Mistakes(AssayTest):
    """Each is one line on standard error that names the way out, and exit 2, before anything runs."""

    def refused(self, *arguments, code=2):
        result = self.assay(*arguments, expect=code)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [], "nothing was written")
        return result.stderr

    def test_unknown_names(self):
        self.assertIn("did you mean 'linear'", self.refused("run", "--suite", "lineer"))
        self.assertIn("did you mean 'smoke'", self.refused("run", "--profile", "smok"))
        self.assertIn("did you mean '--suite'", self.refused("run", "--suit", "linear"))
        self.assertIn("did you mean 'list'", self.refused("lits"))
        self.assertIn("Valid: all, cpu, cuda, mpi, numa, sim", self.refused("run", "--device", "cdua"))
        self.assertIn("unexpected argument 'x'", self.refused("list", "x"))

    def test_malformed_values(self):
        self.assertIn("column 5", self.refused("run", "--axis", "n=1,x"))
        self.assertIn("not '-4'", self.refused("run", "--axis", "n=-4"))
        self.assertIn("expected I/N", self.refused("run", "--shard", "4/3"))
        self.assertIn("regular expression", self.refused("run", "--filter", "["))
        self.assertIn("abc", self.refused("run", "--seed", "abc"))
        self.assertIn("--timeout", self.refused("run", "--timeout", "-1"))
        self.assertIn("--threads", self.refused("run", "--threads", "0"))

    def test_a_negative_or_absurd_size(self):
        for seed in ("-1", "18446744073709551616", "1e3", "+1", " 1"):
            self.assertIn("whole number from 0 to 18446744073709551615", self.refused("run", "--seed", seed))
        self.assertIn("from 1 to 1024", self.refused("run", "--case", "allreduce/f32/reduce=sum,ranks=4294967296,count=1"))
        self.assertIn("too large", self.refused(
            "run", "--case", "linear/f32/batch=17592186044416,in=17592186044416,out=3,bias=0,act=none"))

    def test_simulated_devices_that_nothing_selects(self):
        """They would be told of and never tested."""
        for command in (("run",), ("list",), ("limits",), ("ab", "--cand-env", "NAME=VALUE")):
            for devices in ((), ("--device", "cpu"), ("--device", "all")):
                error = self.refused(*command, "--sim-devices", "4", *devices)
                self.assertIn("--sim-devices", error)
                self.assertIn("--device sim", error)
        for command in ("run", "list", "limits"):
            self.assertIn("--device sim", self.refused(command, "--sim-fault", "low_bit"))

    def test_text_with_line_breaks_is_quoted_on_one_line(self):
        self.refused("run", "--case", "a\nb")

    def test_an_empty_selection(self):
        self.assertIn("selection is empty", self.refused("run", "--filter", "^nothing$"))

    def test_a_case_file_with_line_and_column(self):
        with open(self.folder / "cases.csv", "w", encoding="utf-8") as text:
            text.write("suite,op,dtype,n\ntensor_ops,add,f32,12\ntensor_ops,add,f32,-3\n")
        error = self.assay("run", "--cases", "cases.csv", expect=2).stderr
        self.assertIn("cases.csv:3:20: add: n must be", error)

    def test_no_gpu_is_told_with_its_reason(self):
        report = json.loads(self.assay("devices", "--json").stdout)
        if not any(device["backend"] == "cuda" for device in report["devices"]):
            self.assertRegex(self.assay("devices").stdout, r"(?m)^no cuda device: .*(no driver \(libcuda|the driver|visible|assay_cuda\.so)")

    def test_absent_devices_exit_3(self):
        self.assertIn("cuda", self.refused("run", "--device", ABSENT, code=3))
        self.assertIn(f"--require {ABSENT}", self.refused("run", "--require", ABSENT, code=3))
        self.assertIn("--sim-devices", self.refused("run", "--device", "sim", code=3))

    def test_nothing_applies_exit_3(self):
        self.refused("run", "--filter", "memcpy_2d", "--device", "sim", "--sim-devices", "1", code=3)


class OnAHostWithEightGpus(Devices, Listing, Mistakes):
    """The same with a module whose devices are cuda:0 to cuda:7."""

    def setUp(self):
        super().setUp()
        self.use_module("gpus")

    def test_has_them(self):
        devices = [d["device"] for d in json.loads(self.assay("devices", "--json").stdout)["devices"]]
        self.assertLessEqual({f"cuda:{i}" for i in range(8)}, set(devices))


if __name__ == "__main__":
    unittest.main()
