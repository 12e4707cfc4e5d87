"""Faults of the process that drives a device, injected into simulated ones: what becomes of each."""
import collections
import unittest

from support import AssayTest

# op add is faulty on sim:1 and nowhere else; --check-only keeps it quick.
SELECTION = ("run", "--profile", "seeds", "--check-only", "--suite", "tensor_ops", "--filter", "(add|exp)/f32",
             "--sim-devices", "2", "--device", "sim")
RING = ("run", "--case", "allreduce/f32/reduce=sum,ranks=2,count=1000", "--case", "tensor_ops/add/f32/n=3",
        "--sim-devices", "2", "--device", "sim", "--check-only")


class Faults(AssayTest):
    def statuses(self, out):
        return collections.Counter((r["op"], r["device"], r["status"]) for r in self.rows(out))

    def inject(self, fault, expect, *more):
        """Every trial has its row, those of add on sim:1 the status, all others pass."""
        self.assay(*SELECTION, *more, "--sim-fault", f"{fault},device=1,op=add", "--out", "out", expect=expect)
        planned = self.rows("out", "plan.csv")
        rows = self.rows("out")
        self.assertEqual(sorted((r["case_id"], r["device"]) for r in rows),
                         sorted((p["case_id"], p["device"]) for p in planned))
        struck = [r for r in rows if (r["op"], r["device"]) == ("add", "sim:1")]
        self.assertGreaterEqual(len(struck), 2)
        spared = [r for r in rows if r not in struck]
        self.assertEqual({r["status"] for r in spared}, {"pass"}, "no fault is blamed on another trial")
        print(f"    {fault}: {len(struck)} injected -> {dict(collections.Counter(r['status'] for r in struck))}, "
              f"exit {expect}; {len(spared)} others pass; e.g. {struck[0]['reason']}")
        return struck

    def test_47_segmentation_fault(self):
        for row in self.inject("segv", 4):
            self.assertEqual(row["status"], "crash")
            self.assertRegex(row["reason"], "signal 11|exit code 1")  # the latter under a sanitizer

    def test_48_abort(self):
        for row in self.inject("abort", 4):
            self.assertEqual(row["status"], "crash")
            self.assertIn("signal 6", row["reason"])

    def test_49_a_hang_that_ignores_term(self):
        # Time enough for the trials that do not hang, on a busy machine too.
        for row in self.inject("hang", 4, "--timeout", "4"):
            self.assertEqual(row["status"], "timeout")
            self.assertIn("signal 9", row["reason"])

    def test_50_out_of_memory(self):
        for row in self.inject("out_of_memory", 4):
            self.assertEqual(row["status"], "oom")

    def test_51_a_sticky_error_costs_its_trial_alone(self):
        for row in self.inject("sticky_error", 4):
            self.assertEqual(row["status"], "error")
            self.assertIn("sticky", row["reason"])

    def test_a_wrong_direct_copy_between_devices_asks_about_the_bus(self):
        for access, asks in (("direct", True), ("staged", False)):
            self.assay("run", "--case", f"transfers/peer_memcpy/u8/bytes=65536,by=engine,access={access}", "--sim-devices", "2",
                       "--device", "sim", "--sim-fault", "truncated", "--check-only", "--out", access, expect=1)
            for row in self.rows(access):
                self.assertEqual(asks, "is an IOMMU on, or PCI ACS?" in row["reason"], row["reason"])

    def test_52_a_device_that_is_lost_mid_run(self):
        self.assay("run", "--profile", "seeds", "--check-only", "--filter", "(add|exp)/f32/n=[0-9]+$|allreduce/f32",
                   "--sim-devices", "2", "--device", "sim", "--sim-fault", "device_lost,device=1,op=exp,marker=gone", "--out", "out", expect=4)
        rows = self.rows("out")
        self.assertEqual(len(rows), len(self.rows("out", "plan.csv")))
        for row in rows:
            alive = row["op"] == "add" or "sim:1" not in row["device"]
            wanted = {"skip"} if row["skip_category"] == "too_few_devices" else {"pass"} if alive else {"device_lost"}
            self.assertIn(row["status"], wanted, row["case_id"] + " on " + row["device"])
        lost = [r for r in rows if r["status"] == "device_lost"]
        self.assertIn("fallen off the bus", lost[0]["reason"])
        self.assertIn("does not see it", lost[1]["reason"])
        self.assertIn("sim:0+sim:1", {r["device"] for r in lost}, "nor can it take part in a collective")
        print(f"    device_lost: 1 injected -> {len(lost)} rows device_lost; "
              f"{sum(r['status'] == 'pass' for r in rows)} others pass")

    def test_52_a_device_that_keeps_getting_lost_is_given_up(self):
        self.assay(*SELECTION, "--sim-fault", "device_lost,device=1,op=add", "--out", "out", expect=4)
        rows = [r for r in self.rows("out") if r["device"] == "sim:1"]
        self.assertEqual({r["status"] for r in rows}, {"device_lost"}, "though a fresh worker still sees it")
        self.assertFalse([r for r in rows[:2] if r["reason"].startswith("given up")])
        self.assertEqual({r["reason"].startswith("given up") for r in rows[2:]}, {True})
        self.assertEqual({r["status"] for r in self.rows("out") if r["device"] == "sim:0"}, {"pass"})

    def test_53_a_dead_rank(self):
        self.assay(*RING, "--timeout", "2", "--sim-fault", "dead_rank,device=1", "--out", "out", expect=4)
        by_op = {r["op"]: r for r in self.rows("out")}
        self.assertEqual(by_op["allreduce"]["status"], "timeout")
        self.assertEqual({r["status"] for r in self.rows("out") if r["op"] == "add"}, {"pass"})
        print(f"    dead_rank: 1 injected -> {by_op['allreduce']['status']}; {by_op['allreduce']['reason']}")

    def test_many_bad_results_are_not_all_told(self):
        said = self.assay("run", "--profile", "seeds", "--check-only", "--suite", "tensor_ops", "--filter", "(add|sub|mul)/",
                          "--sim-devices", "1", "--device", "sim", "--sim-fault", "low_bit", "--out", "out", expect=1).stderr
        failed = sum(row["status"] == "fail" for row in self.rows("out"))
        self.assertGreater(failed, 51)
        self.assertEqual(said.count("\nfail: "), 50)
        self.assertEqual(said.count("more than 50 bad results"), 1)
        self.assertIn(f"FAILED: {failed} wrong", said)

    def test_without_a_fault_nothing_is_flagged(self):
        self.assay(*SELECTION, "--out", "out")
        self.assertEqual({r["status"] for r in self.rows("out")}, {"pass"})

    def test_a_replay_has_the_fault(self):
        row = self.inject("abort", 4)[0]
        self.assertIn("--sim-fault abort,device=1,op=add", row["replay"])

    def test_a_misspelt_fault_is_a_usage_error(self):
        error = self.assay(*SELECTION, "--sim-fault", "segf", expect=2).stderr
        self.assertIn("did you mean 'segv'", error)


if __name__ == "__main__":
    unittest.main()
