"""assay ab: two builds on one machine."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from support import ABSENT, ASSAY, AssayTest, is_gone

ADD = "tensor_ops/add/f32/n=4096"
MUL = "tensor_ops/mul/f32/n=4096"
SIM = ("--stand-ins", "--sim-devices", "1", "--device", "sim")
SAME = ("--cand-env", "NOBODY_READS_THIS=1")  # some difference between the sides has to be named
FEW = ("--rounds", "6", "--confirm", "6")
TWIN = str(pathlib.Path(ASSAY).parent / "assay_twin")


class Ab(AssayTest):
    def ab(self, *arguments, expect=0):
        return self.assay("ab", *SIM, *arguments, "--out", "out", expect=expect)

    def verdicts(self):
        return {row["case_id"]: row["verdict"] for row in self.rows("out", "ab.csv")}

    def json(self):
        return json.loads((self.folder / "out" / "ab.json").read_text(encoding="utf-8"))


class Refusals(Ab):
    def refused(self, *arguments, because, expect=2):
        error = self.ab(*arguments, expect=expect).stderr
        self.assertIn(because, error)
        self.assertFalse((self.folder / "out").exists(), "decided before anything runs")

    def test_two_sides_that_do_not_differ(self):
        self.refused("--case", ADD, because="both sides are the same program")
        self.refused("--case", ADD, "--base", ASSAY, "--cand", ASSAY, because="both sides are the same program")

    def test_what_is_no_assay(self):
        self.refused("--case", ADD, "--base", "/bin/true", because="--base: '/bin/true' is not an assay")
        self.refused("--case", ADD, "--cand", "nothing", because="--cand: 'nothing' is not a program")
        self.refused("--case", ADD, "--cand", str(self.folder), because="is not a program")

    def test_a_program_of_another_protocol(self):
        other = self.folder / "other"
        other.write_text("#!/bin/sh\necho '{\"type\":\"hello\",\"protocol\":1}'\ncat\n", encoding="utf-8")
        other.chmod(0o755)
        self.refused("--case", ADD, "--base", str(other), because="protocol 1")

    def test_a_program_that_ends_and_leaves_a_child(self):
        other = self.folder / "other"
        other.write_text("#!/bin/sh\nsleep 1000 &\necho $! > child\necho 'no such library' >&2\nexit 3\n", encoding="utf-8")
        other.chmod(0o755)
        self.refused("--case", ADD, "--base", str(other), because="exit code 3: no such library")
        child = int((self.folder / "child").read_text(encoding="ascii"))
        self.addCleanup(lambda: is_gone(child) or os.kill(child, signal.SIGKILL))
        for _ in range(100):
            if is_gone(child):
                break
            time.sleep(0.02)
        self.assertTrue(is_gone(child), "it ends with the program that left it")

    def test_malformed_options(self):
        self.refused("--case", ADD, "--cand-env", "X", because="expected NAME=VALUE")
        self.refused("--case", ADD, "--cand-sim-fault", "slov", because="did you mean 'slow'")
        self.refused("--case", ADD, "--cand-sim-fault", "slow,percent=-1", because="percent must be")
        self.refused("--case", ADD, "--cand-sim-fault", "low_bit,percent=5", because="expected device=I")
        self.refused("--case", ADD, "--aa", "--cand", TWIN, because="--aa")
        self.refused("--case", "nothing", *SAME, because="nothing")
        self.refused("--case", ADD, *SAME, "--margin", "nan", because="--margin: must be a number")
        self.refused("--case", ADD, *SAME, "--timeout", "nan", because="--timeout: must be a number")
        error = self.assay("ab", "--device", "cpu", "--case", ADD, "--cand-sim-fault", "slow", "--out", "out", expect=2).stderr
        self.assertIn("only simulated devices have faults", error)
        self.refused("--case", ADD, "--cand-sim-fault", "slow,marker=struck", because="expected device=I")

    def test_fewer_rounds_than_the_tests_need(self):
        self.refused("--case", ADD, *SAME, "--rounds", "5", because="need 6 rounds at least")
        self.refused("--case", ADD, *SAME, "--confirm", "3", because="cannot be confirmed")

    def test_nothing_to_compare(self):
        self.refused("--profile", "seeds", "--filter", "add/f32/n=3$", *SAME, because="none of the 1 selected trials is timed", expect=3)
        self.refused("--case", ADD, *SAME, "--device", ABSENT, because=ABSENT, expect=3)


class Verdicts(Ab):
    def test_a_slow_candidate_is_found(self):
        output = self.ab("--case", "tensor_ops/add/f32/n=65536", "--cand-sim-fault", "slow,percent=20", expect=5)
        self.assertIn("REGRESSED", output.stdout)
        self.assertIn("FAILED: 1 regressed", output.stderr)
        [row] = self.rows("out", "ab.csv")
        self.assertEqual((row["verdict"], row["stage"], row["rounds"]), ("regressed", "confirm", "40"))
        self.assertLess(float(row["p_holm"]), 0.05)
        self.assertEqual(self.json()["exit_code"], 5)
        self.assertEqual(self.json()["cand"]["sim_faults"], ["slow,percent=20"])
        self.assertTrue((self.folder / "out" / "ab.md").read_text(encoding="utf-8").startswith("# FAILED"))

    def test_a_slow_base_is_no_regression(self):
        self.ab("--case", ADD, "--base-sim-fault", "slow,percent=300", *FEW)  # exit 0
        [row] = self.rows("out", "ab.csv")
        self.assertEqual((row["stage"], row["p_confirm"]), ("screen", ""))

    def test_a_wrong_candidate_is_wrong(self):
        # The margin lets any time pass: what decides is the wrong result alone.
        output = self.ab("--case", ADD, "--case", MUL, "--cand-sim-fault", "low_bit,op=add", *FEW, "--margin", "1000", expect=1)
        self.assertIn("cand: fail", output.stderr)
        self.assertEqual(self.verdicts()[ADD], "wrong")
        self.assertNotIn(self.verdicts()[MUL], ("wrong", "broken"))
        [row] = [row for row in self.rows("out", "ab.csv") if row["case_id"] == ADD]
        self.assertEqual(row["ratio"], "")

    def test_a_wrong_base_is_no_baseline(self):
        self.ab("--case", ADD, "--base-sim-fault", "low_bit", *FEW, expect=1)
        self.assertEqual(self.verdicts(), {ADD: "wrong"})

    def test_a_crash_costs_its_case_alone(self):
        self.ab("--case", ADD, "--case", MUL, "--cand-sim-fault", "abort,op=add", *FEW, "--margin", "1000", expect=4)
        self.assertEqual(self.verdicts()[ADD], "broken")
        self.assertNotEqual(self.verdicts()[MUL], "broken")
        self.assertEqual(len([row for row in self.rows("out", "rounds.csv") if row["case_id"] == MUL]), 6)

    def test_every_round_is_kept(self):
        self.ab("--case", ADD, "--case", MUL, *SAME, *FEW, "--margin", "1000")
        rounds = self.rows("out", "rounds.csv")
        self.assertEqual([(row["case_id"], row["round"]) for row in rounds],
                         [(case, str(number)) for number in range(1, 7) for case in (ADD, MUL)])
        for row in rounds:
            self.assertEqual((row["base_status"], row["cand_status"], row["stage"]), ("pass", "pass", "screen"))
            self.assertEqual((row["base_samples"], row["cand_samples"]), ("20", "20"))
            self.assertGreater(float(row["base_median_s"]), 0)
            self.assertIn(row["first"], ("base", "cand"))

    def test_an_interrupted_comparison_is_not_green(self):
        with subprocess.Popen([ASSAY, "ab", *SIM, "--case", ADD, *SAME, "--rounds", "1000", "--out", "out"], cwd=self.folder,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            rounds = self.folder / "out" / "rounds.csv"
            for _ in range(600):
                if rounds.exists() and rounds.read_text(encoding="utf-8").count("\n") > 2:
                    break
                time.sleep(0.1)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
        self.assertEqual(process.returncode, 4)
        self.assertTrue(self.json()["interrupted"])
        self.assertGreaterEqual(len(self.rows("out", "rounds.csv")), 2)


class Undecided(Ab):
    """Both sides are this program, and told times stand in for measured ones: in turns a tenth slower and faster."""

    def side(self, name, *ratios):
        """A program that says of its timed launches, in turns, that they took these parts of a millisecond."""
        program = self.folder / name
        program.write_text(f"""#!/usr/bin/env python3
import json, subprocess, sys
words = sys.argv[1:]
at = words.index("--parent")
worker = subprocess.Popen([{ASSAY!r}, *words[:at], *words[at + 2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
def pass_on():
    message = json.loads(worker.stdout.readline())
    record = message.get("record", message)
    if "time_median_s" in record:
        with open(__file__ + ".count", "a+") as count:
            turn = count.tell()
            count.write(".")
        record["time_median_s"] = 1e-3 * {ratios!r}[turn % {len(ratios)}]
    print(json.dumps(message), flush=True)
    return message
pass_on()
for line in sys.stdin:
    worker.stdin.write(line)
    worker.stdin.flush()
    pass_on()
worker.stdin.close()
worker.wait()
""", encoding="utf-8")
        program.chmod(0o755)
        return str(program)

    def test_noise_says_what_it_could_have_seen_and_fails_where_asked(self):
        sides = ("--base", self.side("base", 1), "--cand", self.side("cand", 1.1, 1 / 1.1))
        could = "no case decided; 1 inconclusive (margin 2%): this run could have seen a change of 13% or more"
        for words, code in (((), 0), (("--fail-on-inconclusive",), 6)):
            result = self.ab("--case", ADD, *sides, *FEW, "--margin", "2", *words, expect=code)
            self.assertEqual(self.verdicts(), {ADD: "inconclusive"})
            self.assertIn("INCOMPLETE: " + could, result.stderr)
            self.assertTrue((self.folder / "out" / "ab.md").read_text(encoding="utf-8").startswith("# INCOMPLETE: no case"))
            self.assertEqual(self.json()["exit_code"], code)
            self.assay("report", "out", "--out", f"page-{code}.html")
            page = (self.folder / f"page-{code}.html").read_text(encoding="utf-8")
            self.assertIn("No case decided, 1 inconclusive: this run could have seen a change of 13% or more", page)
            shutil.rmtree(self.folder / "out")

    def test_one_decided_case_is_enough(self):
        # The times of both cases come in turns: ADD is always the first.
        sides = ("--base", self.side("base", 1), "--cand", self.side("cand", 1.1, 0.5, 1 / 1.1, 0.5))
        said = self.ab("--case", ADD, "--case", MUL, *sides, *FEW, "--margin", "2", "--fail-on-inconclusive").stderr
        self.assertEqual(self.verdicts(), {ADD: "inconclusive", MUL: "improved"})
        self.assertIn("PASSED: no confirmed regression; 1 improved, 1 inconclusive (margin 2%)", said)

    def test_a_wrong_result_goes_first(self):
        sides = ("--base", self.side("base", 1), "--cand", self.side("cand", 1.1, 1 / 1.1))
        self.ab("--case", ADD, "--case", MUL, *sides, "--cand-sim-fault", "low_bit,op=mul", *FEW, "--fail-on-inconclusive",
                "--margin", "2", expect=1)
        self.assertEqual(self.verdicts(), {ADD: "inconclusive", MUL: "wrong"})


class Margins(Ab):
    def margin(self, *arguments, program=True):
        """Of a comparison with the twin, unless `program` is False: then of this program with itself."""
        self.ab("--case", ADD, *FEW, *(("--base", TWIN) if program else ()), *arguments, expect=0)
        margin = self.json()["margin"], self.json()["margin_reason"]
        subprocess.run(["rm", "-r", str(self.folder / "out")], check=True)
        return margin

    def test_the_same_program_needs_little(self):
        # Far faster than any margin: what is asked is only which margin was taken.
        fast = ("--base-sim-fault", "slow,percent=300")
        self.assertEqual(self.margin(*fast, *SAME, program=False)[0], 0.005)
        self.assertEqual(self.margin(*fast)[0], 0.02)
        self.assertEqual(self.margin(*fast, "--margin", "7"), (0.07, "by --margin"))
        self.assertEqual(self.margin(*fast, "--sensitive"), (0.0025, "by --sensitive"))

    def test_programs_that_differ_in_a_module_alone_are_two(self):
        programs = []
        for side in ("a", "b"):
            modules = self.folder / side / "lib" / "assay"
            modules.mkdir(parents=True)
            (self.folder / side / "bin").mkdir()
            programs.append(shutil.copy(ASSAY, self.folder / side / "bin" / "assay"))
            (modules / "assay_x.so").write_text("no module", encoding="utf-8")
        sides = ("--base", programs[0], "--cand", programs[1])
        self.ab("--case", ADD, *FEW, *sides, expect=2)  # the same bytes everywhere
        (modules / "assay_x.so").write_text("other one", encoding="utf-8")  # as long
        self.assertEqual(self.margin(*sides, "--base-sim-fault", "slow,percent=300", program=False)[0], 0.02)

    def test_what_layout_does_is_recorded_and_used(self):
        spread = self.folder / "spread.json"
        aa = ("ab", "--device", "cpu", "--aa", "--case", "tensor_ops/add/f32/n=65536", "--rounds", "6", "--confirm", "6", "--margin", "1000")
        self.assay(*aa, "--spread", str(spread), "--out", "out")
        self.assertIn(f"no effect of layout beyond the margin was found; recorded in {spread}", self.json()["notes"][-1])
        self.assertEqual(self.json()["cand"]["program"], TWIN)
        found = json.loads(spread.read_text(encoding="utf-8"))
        self.assertEqual(found["layout_spread"], 0)  # with that margin nothing can be found
        spread.write_text(json.dumps(found | {"layout_spread": 0.05, "recorded_at": "then"}, indent=2), encoding="utf-8")
        subprocess.run(["rm", "-r", str(self.folder / "out")], check=True)
        self.assay(*aa, "--spread", str(spread), "--out", "out")
        self.assertIn("5% of then stays recorded", self.json()["notes"][-1])
        subprocess.run(["rm", "-r", str(self.folder / "out")], check=True)
        fast = ("--base-sim-fault", "slow,percent=300", "--spread", str(spread))
        self.assertIn("spread.json: of another machine", self.ab("--case", ADD, "--base", TWIN, *fast, expect=2).stderr)
        simulated = f"{found['machine'].split(' | ')[0]} | simulated device 0 (no hardware)"
        for value, wanted, why in ((0.05, 0.05, "of then"), (0.5, 0.1, "too much for a gate"), (0.001, 0.02, "found no more")):
            spread.write_text(json.dumps({"layout_spread": value, "machine": simulated, "recorded_at": "then"}), encoding="utf-8")
            margin, reason = self.margin(*fast)
            self.assertEqual(margin, wanted)
            self.assertIn(why, reason)
        for mend in (lambda: spread.write_text("damaged", encoding="utf-8"), spread.unlink):
            mend()
            self.assertIn("spread.json", self.ab("--case", ADD, "--base", TWIN, *fast, expect=2).stderr)
        self.assertFalse((self.folder / "out").exists(), "decided before anything runs")


class Programs(Ab):
    def test_another_program_is_driven_with_its_own_variables(self):
        self.ab("--case", ADD, "--base", TWIN, "--base-env", "OMP_WAIT_POLICY=passive", "--base-sim-fault", "slow,percent=300", *FEW)
        base, cand = self.json()["base"], self.json()["cand"]
        self.assertEqual((base["program"], base["environment"]), (TWIN, {"OMP_WAIT_POLICY": "passive"}))
        self.assertEqual((cand["program"], cand["environment"]), (str(pathlib.Path(ASSAY).resolve()), {}))
        self.assertEqual(base["build_id"], cand["build_id"])

    def test_values_of_variables_are_told_only_where_they_cannot_be_secrets(self):
        variables = ("--base-env", "TOKEN=hunter2", "--cand-env=API_KEY=hunter2", "--cand-env", "LD_LIBRARY_PATH=/nowhere")
        result = self.ab("--case", ADD, *variables, *FEW, "--margin", "1000")
        files = "".join(path.read_text(encoding="utf-8") for path in (self.folder / "out").iterdir())
        for text in (result.stdout + result.stderr, files):
            self.assertNotIn("hunter2", text)
            for named in ("TOKEN", "API_KEY", "LD_LIBRARY_PATH=/nowhere" if text != files else "/nowhere"):
                self.assertIn(named, text)
        self.assertEqual(self.json()["command_line"].count("TOKEN=(not told)"), 1)

    def test_a_side_s_variables_win_over_what_workers_are_told(self):
        """Workers are told OMP_PROC_BIND=true; a program sees what its side says, once."""
        wrapper = self.folder / "wrapper"
        wrapper.write_text(f"#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ | grep OMP_PROC_BIND >> seen\nexec {ASSAY} \"$@\"\n", encoding="utf-8")
        wrapper.chmod(0o755)
        self.ab("--case", ADD, "--base", str(wrapper), "--base-env", "OMP_PROC_BIND=false", *FEW, "--margin", "1000")
        seen = (self.folder / "seen").read_text(encoding="utf-8").split()
        self.assertGreaterEqual(len(seen), 6)
        self.assertEqual(set(seen), {"OMP_PROC_BIND=false"})

    def test_a_case_that_one_build_lacks_is_told(self):
        """A program that knows no `mul`: its workers are this one's, behind a filter."""
        old = self.folder / "old"
        old.write_text(f"""#!/usr/bin/env python3
import json, subprocess, sys
words = sys.argv[1:]
at = words.index("--parent")
worker = subprocess.Popen([{ASSAY!r}, *words[:at], *words[at + 2:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
hello = json.loads(worker.stdout.readline())
hello["build_id"] = "old"
print(json.dumps(hello), flush=True)
for line in sys.stdin:
    if "/mul/" in line:
        print(json.dumps({{"type": "unknown_case", "reason": "unknown op 'mul'"}}), flush=True)
        continue
    worker.stdin.write(line)
    worker.stdin.flush()
    print(worker.stdout.readline(), end="", flush=True)
worker.stdin.close()
worker.wait()
""", encoding="utf-8")
        old.chmod(0o755)
        self.ab("--case", ADD, "--case", MUL, "--base", str(old), *FEW, "--margin", "1000")
        self.assertEqual(self.verdicts()[MUL], "added")
        self.assertEqual(self.json()["base"]["build_id"], "old")
        subprocess.run(["rm", "-r", str(self.folder / "out")], check=True)
        self.ab("--case", ADD, "--case", MUL, "--cand", str(old), *FEW, "--margin", "1000", expect=1)
        self.assertEqual(self.verdicts()[MUL], "missing")
        subprocess.run(["rm", "-r", str(self.folder / "out")], check=True)
        self.ab("--case", MUL, "--base", str(old), *FEW, expect=3)  # nothing that both have


if __name__ == "__main__":
    unittest.main()
