"""Backends without a GPU: one that nothing but its own module knows, and the nodes of the host's memory."""
import json
import os
import subprocess
import unittest
import unittest.mock

from support import ASSAY, AssayTest


class Toy(AssayTest):
    """The module `toy` has two devices that work: planned, checked, measured and reported like all others."""

    def setUp(self):
        super().setUp()
        self.use_module("toy")

    def test_runs_all_suites_and_has_the_cases_that_simulated_devices_have(self):
        self.assay("run", "--profile", "seeds", "--device", "toy", "--check-only", "--out", "out")
        rows = self.rows("out")
        self.assertLessEqual({"tensor_ops", "linear", "transfers", "collectives", "placement"}, {row["suite"] for row in rows})
        self.assertEqual({"pass"}, {row["status"] for row in rows})
        on_simulated = self.trials("--profile", "seeds", "--sim-devices", 2, "--device", "sim")
        self.assertEqual(sorted((trial["case_id"], trial["device"].replace("sim", "toy")) for trial in on_simulated),
                         sorted((row["case_id"], row["device"]) for row in rows))
        self.assertEqual({"toy:0", "toy:1"}, {row["device"] for row in self.rows("out", "devices.csv")})

    def test_has_limits_and_a_report(self):
        self.assay("limits", "--device", "toy:0", "--csv", "limits.csv")
        limits = {row["limit"] for row in self.rows(".", "limits.csv") if row["status"] == "pass"}
        self.assertLessEqual({"memory_copy", "matrix_f32", "link_to_device", "launch"}, limits)
        self.assay("run", "--case", "transfers/device_memcpy/u8/from=pinned,to=device,bytes=1048576,by=engine", "--device", "toy:0", "--out", "out")
        self.assertIn("link_to_device", {row["limit"] for row in self.rows("out", "limits.csv")})
        self.assay("report", "out", "-o", "page.html")
        page = (self.folder / "page.html").read_text(encoding="utf-8")
        self.assertIn("toy:0", page)
        self.assertNotIn("simulated)", page.replace("(no hardware)", ""))

    def test_is_named_in_every_way(self):
        for item in ("toy", "toy:1", "toy:most-free", "all"):
            devices = {trial["device"] for trial in self.trials("--device", item, "--filter", "^tensor_ops/add/f32/n=3$")}
            self.assertTrue(any(device.startswith("toy") for device in devices), item)
        self.assay("list", "--require", "toy:2", "--filter", "^tensor_ops/add/f32/n=3$")
        self.assertIn("toy:7", self.assay("list", "--device", "toy:7", expect=3).stderr)
        self.assertIn("unknown device 'toi'", self.assay("list", "--device", "toi", expect=2).stderr)


class NodesOfMemory(AssayTest):
    """On a topology that hwloc makes up of this machine's first processors."""

    def on(self, topology):
        if not {0, 1} <= os.sched_getaffinity(0):
            self.skipTest("needs the processors 0 and 1")
        changed = unittest.mock.patch.dict(os.environ, HWLOC_SYNTHETIC=topology)
        changed.start()
        self.addCleanup(changed.stop)

    def devices(self, *options):
        return {device["device"]: device for device in json.loads(self.assay("devices", "--json", *options).stdout)["devices"]}

    def test_each_is_a_device_with_its_own_cores_and_limits(self):
        self.on("numa:2 l3:1 core:1 pu:1")
        found = self.devices()
        self.assertEqual(["0", "1"], [found[f"numa:{node}"]["local_processors"] for node in (0, 1)])
        self.assertEqual(found["numa:0"]["last_level_cache_bytes"] * 2, found["cpu"]["last_level_cache_bytes"])
        self.assay("run", "--profile", "seeds", "--device", "numa", "--check-only", "--out", "out")
        rows = self.rows("out")
        self.assertEqual({"pass"}, {row["status"] for row in rows})
        self.assertEqual({"numa:0", "numa:1"}, {row["device"] for row in rows})
        self.assertEqual({row["case_id"] for row in rows},
                         {trial["case_id"] for trial in self.trials("--profile", "seeds", "--device", "cpu")})
        limits = json.loads(self.assay("limits", "--device", "numa:1", "--stand-ins", "--json", "--quiet").stdout)["limits"]
        self.assertLessEqual({"memory_copy", "matrix_f32"}, {limit["limit"] for limit in limits if "value" in limit})

    def test_figures_of_a_made_up_topology_pass_for_none(self):
        self.on("numa:2 core:1 pu:1")
        self.assertIn("--stand-ins", self.assay("limits", "--device", "numa:0", expect=2).stderr)

    def test_a_worker_elsewhere_refuses_to_be_one(self):
        self.on("numa:2 core:1 pu:1")
        trial = {"type": "trial", "case": "tensor_ops/add/f32/n=3", "devices": ["numa:1"], "timing": "", "attempt": 1,
                 "repeat": 1}
        worker = subprocess.run([ASSAY, "worker"], input=json.dumps(trial) + "\n", capture_output=True, text=True, timeout=60,
                                check=False)
        answer = json.loads(worker.stdout.splitlines()[-1])["record"]
        self.assertEqual("error", answer["status"])
        self.assertIn("not bound to the processors 1 of node 1", answer["reason"])

    def test_one_node_is_the_device_cpu(self):
        self.on("numa:1 core:2 pu:1")
        self.assertEqual(["cpu"], [device for device in self.devices() if not device.startswith("cuda")])
        self.assertIn("one node of memory", self.assay("run", "--device", "numa", expect=3).stderr)

    def test_a_core_of_two_processors_gets_one_thread_unless_the_user_says_how_many(self):
        self.on("numa:1 core:1 pu:2")
        cpu = self.devices()["cpu"]
        self.assertEqual((1, "0"), (cpu["compute_units"], cpu["local_processors"]))
        with unittest.mock.patch.dict(os.environ, OMP_NUM_THREADS="2"):
            self.assertNotIn("local_processors", self.devices()["cpu"])


if __name__ == "__main__":
    unittest.main()
