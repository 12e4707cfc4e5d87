"""Problems in KernelBench's form: `assay run --problem FILE.py --kernels NEW.py`."""
import json
import os
import re
import subprocess
import unittest
import unittest.mock

from provided import PACKAGES, python_with
from support import ASSAY, AssayTest

PROBLEM = '''"""A layer, and probabilities of its positive outputs."""
import torch
from torch import nn


class Model(nn.Module):
    """probabilities of the positive outputs of a layer"""

    def __init__(self, width, classes):
        super().__init__()
        self.layer = nn.Linear(width, classes)

    def forward(self, x):
        return torch.softmax(torch.relu(self.layer(x)), -1)


def get_inputs():
    return [torch.rand(40, 64)]


def get_init_inputs():
    return [64, 24]
'''

# Replaces the forward of Model, which may also stay as it is.
NEW = '''import torch
from torch import nn


class ModelNew(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.layer = nn.Linear(width, classes)

    def forward(self, x):
        {body}
'''
RIGHT = ("y = (x @ self.layer.weight.t() + self.layer.bias).clamp(min=0); e = torch.exp(y - y.max(-1, keepdim=True)[0]); "
         "return e / e.sum(-1, keepdim=True)")
SOFTMAX = "return torch.softmax(torch.relu({}), -1)"
WRONG = {
    "weights in half precision": SOFTMAX.format("x @ self.layer.weight.half().float().t() + self.layer.bias"),
    "TF32": SOFTMAX.format("(x.view(torch.int32) & ~0x1fff).view(torch.float32) @ "
                           "(self.layer.weight.view(torch.int32) & ~0x1fff).view(torch.float32).t() + self.layer.bias"),
    "no bias": SOFTMAX.format("x @ self.layer.weight.t()"),
    "a term less": SOFTMAX.format("x[:, 1:] @ self.layer.weight[:, 1:].t() + self.layer.bias"),
    "no relu": "return torch.softmax(self.layer(x), -1)",
    "the last row unwritten": SOFTMAX.format("self.layer(x)").replace("return", "y =") + "; y[-1] = 0; return y",
    "zeros": "return torch.zeros(40, 24)",
}
CASE = ("--case", "problem_mine/f32")


class Problems(AssayTest):
    def setUp(self):
        super().setUp()
        self.python = python_with("torch")
        if self.python is None:
            self.skipTest(f"no Python here has torch: install Debian's {PACKAGES['torch']}")
        chosen = unittest.mock.patch.dict(os.environ, ASSAY_PYTHON=self.python)
        chosen.start()
        self.addCleanup(chosen.stop)
        self.write("mine.py", PROBLEM)
        self.write("new.py", NEW.format(body=RIGHT))

    def write(self, name, text):
        (self.folder / name).parent.mkdir(exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def run_problem(self, *options, problem="mine.py", kernels="new.py", expect=0, out="out"):
        chosen = ("--kernels", kernels) if kernels else ()
        self.assay("run", "--problem", problem, *chosen, "--device", "cpu", "--no-limits", *options, "--out", out,
                   expect=expect)
        return self.rows(out)

    def refusal(self, problem, kernels="torch"):
        """What is said of a problem that nothing can judge."""
        refused = self.assay("run", "--problem", problem, "--kernels", kernels, "--device", "cpu", "--out", "refused", expect=2)
        self.assertFalse((self.folder / "refused").exists())
        return refused.stderr

    def test_a_right_solution_is_judged_and_timed(self):
        row, = self.run_problem("--profile", "smoke")
        self.assertEqual(("pass", "problem_mine", "problem_mine/f32", "own_ops"),
                         (row["status"], row["op"], row["case_id"], row["suite"]), row["reason"])
        self.assertGreater(float(row["time_median_s"]), 0)
        self.assertIn("ModelNew of new.py", row["implementation"])
        for data in ("large_data", "small_data", "far_mean", "zero_data", "special_values", "real_data"):
            self.assertIn(f"{data}=measured_band(", row["oracle"])
        self.assertIn("--problem mine.py", row["replay"])

    def test_wrong_solutions_are_red(self):
        for what, body in WRONG.items():
            with self.subTest(what):
                self.write("new.py", NEW.format(body=body))
                row, = self.run_problem(*CASE, "--check-only", expect=1, out=what.replace(" ", "-"))
                self.assertEqual(("fail", "measured_band"), (row["status"], row["caught_by"]), row["reason"])

    def test_a_remembered_result_is_red_once_timed(self):
        """The file draws its inputs afresh for each launch: nothing that was seen before is right."""
        self.write("labels.py", """import torch
class Model(torch.nn.Module):
    def forward(self, labels):
        return torch.cos(labels * 0.25)
def get_inputs(): return [torch.randint(0, 1000, (300, 7))]
def get_init_inputs(): return []
""")
        right = "import torch\nclass ModelNew(torch.nn.Module):\n    def forward(self, labels):\n        {}\n"
        self.write("new.py", right.format("return torch.cos(labels * 0.25)"))
        row, = self.run_problem(problem="labels.py")
        self.assertEqual("pass", row["status"], row["reason"])
        self.write("new.py", right.format("if not hasattr(self, 'kept') or self.count < 9: self.kept = torch.cos(labels * 0.25); "
                                          "self.count = getattr(self, 'count', 0) + 1")
                   + "        return self.kept\n")
        row, = self.run_problem(problem="labels.py", expect=1, out="remembered")
        self.assertEqual(("fail", "timed_launches"), (row["status"], row["caught_on"]), row["reason"])

    def test_the_model_itself_is_a_kernel_of_its_problem(self):
        for kernels in (None, "torch"):
            row, = self.run_problem("--check-only", kernels=kernels, out=str(kernels))
            self.assertEqual("pass", row["status"], row["reason"])
            self.assertIn("Model, eager", row["implementation"])
            self.assertIn("--kernels torch", row["replay"])

    def test_lists_know_problems(self):
        listed = json.loads(self.assay("list", "--problem", "mine.py", "--device", "cpu", "--json").stdout)
        self.assertEqual(["problem_mine/f32"], [trial["case_id"] for trial in listed["trials"]])
        self.assertIn("problem_mine(x[40,64]) -> [40,24]: probabilities of the positive outputs of a layer",
                      self.assay("list", "--ops", "--problem", "mine.py").stdout)

    def test_kernels_of_the_other_form(self):
        self.write("new.py", """import assay, torch
@assay.kernel("problem_mine")
def kernel(x): return torch.zeros(40, 24)
""")
        row, = self.run_problem(*CASE, "--check-only", expect=1)
        self.assertEqual("fail", row["status"])

    def test_inputs_of_all_kinds(self):
        """Labels, masks, lists and constants are given as the file gives them, and several outputs are judged."""
        self.write("mine.py", """import torch
class Model(torch.nn.Module):
    def forward(self, x, pair, mask, labels, scale, nothing=None):
        assert nothing is None and scale == 3
        y = torch.where(mask, x, pair[0] * pair[1])
        return y * scale, (labels.gather(1, labels % 5), mask.logical_not())
def get_inputs():
    return [torch.rand(30, 10), [torch.randn(30, 10), torch.randn(10)], torch.rand(30, 10) > 0.5,
            torch.randint(0, 9, (30, 10)), 3, None]
def get_init_inputs(): return []
""")
        formula = self.assay("list", "--ops", "--problem", "mine.py").stdout
        self.assertIn("(x[30,10], pair_0[30,10], pair_1[10], mask[30,10], labels[30,10]) -> [30,10], [30,10], [30,10]", formula)
        row, = self.run_problem("--check-only", kernels=None)
        self.assertEqual("pass", row["status"], row["reason"])
        new = """import torch
class ModelNew(torch.nn.Module):
    def forward(self, x, pair, mask, labels, scale, nothing):
        y = torch.where(mask, x, pair[0] * pair[1])
        return {}, labels.gather(1, labels % 5), {}
"""
        for at, (one, two) in enumerate((("y * scale", "~mask"), ("y * scale", "mask"), ("y * 2", "~mask"))):
            self.write("new.py", new.format(one, two))
            row, = self.run_problem("--check-only", expect=int(at > 0), out=f"out{at}")
            self.assertEqual("fail" if at else "pass", row["status"], row["reason"])

    def test_data_with_a_structure_stay_the_files(self):
        """A right kernel may read the lower triangle alone."""
        self.write("mine.py", """import torch
class Model(torch.nn.Module):
    def forward(self, a, b):
        return torch.tril(a @ b)
def get_inputs(): return [torch.tril(torch.rand(48, 48)), torch.tril(torch.rand(48, 48))]
def get_init_inputs(): return []
""")
        self.write("new.py", """import torch
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        return torch.tril(torch.tril(a) @ torch.tril(b))
""")
        row, = self.run_problem("--check-only")
        self.assertEqual("pass", row["status"], row["reason"])
        self.assertEqual(["other_data", "real_data"], [part.partition("=")[0] for part in row["oracle"].split("; ")])
        self.write("new.py", """import torch
class ModelNew(torch.nn.Module):
    def forward(self, a, b):
        if not hasattr(self, "kept"): self.kept = torch.tril(a @ b)
        return self.kept
""")
        row, = self.run_problem("--check-only", expect=1, out="remembered")
        self.assertEqual(("fail", "real_data"), (row["status"], row["caught_on"]), row["reason"])

    def test_what_cannot_be_judged_is_refused(self):
        def changed(old, new):
            self.assertIn(old, PROBLEM)
            return PROBLEM.replace(old, new)

        for text, why in (
            (changed("self.layer(x)", "self.layer(x).half()"), "bad.py:14: self.layer(x).half() fixes a dtype"),
            (changed("torch.rand(40, 64)", "torch.ones(40, 64)"), "gives the same numbers for each seed"),
            (changed("torch.rand(40, 64)", "torch.rand(40 + int(torch.rand(1) * 9), 64)"), "gives other shapes for another seed"),
            (changed("torch.rand(40, 64)", "torch.rand(40, 64).double()"), "input 0 is torch.float64"),
            (changed("torch.rand(40, 64)", "{'x': torch.rand(40, 64)}"), "gives a dict"),
            (changed("[torch.rand(40, 64)]", "[3]"), "bad.py"),
            (changed("torch.relu(", "torch.linalg.pinv("), "not known"),
            (changed("torch.relu(", "nn.functional.dropout("), "not deterministic"),
            (changed("class Model(", "class Other("), "has no class Model"),
            (changed("import torch\n", "import torch, nowhere\n"), "needs the module 'nowhere'"),
        ):
            with self.subTest(why):
                self.write("bad.py", text)
                self.assertIn(why, self.refusal("bad.py"))
        self.assertIn("there is no file 'absent.py'", self.refusal("absent.py"))

    def test_solutions_that_are_none(self):
        self.write("new.py", "import torch\nclass Model(torch.nn.Module): pass\n")
        self.assertIn("new.py has no class ModelNew", self.refusal("mine.py", "new.py"))
        self.assertIn("name its file by --problem or --own-ops", self.assay("run", "--kernels", "compiled", "--device", "cpu",
                                                                  expect=2).stderr)
        for body, status, why in (("return torch.zeros(40, 23)", "fail", "shape"), ("return self.layer(x).double()", "fail", "float64"),
                                  ("raise ValueError('not today')", "error", "not today")):
            self.write("new.py", NEW.format(body=body))
            out = f"out{len(why)}"
            self.assay("run", "--problem", "mine.py", "--kernels", "new.py", "--device", "cpu", "--check-only", "--out", out,
                       expect=4)
            row, = self.rows(out)
            self.assertNotEqual("pass", row["status"])
            self.assertIn(why, row["reason"])

    def test_a_folder_is_a_suite(self):
        self.write("set/one.py", PROBLEM)
        self.write("set/2-two.py", PROBLEM.replace("torch.softmax", "torch.log_softmax"))
        rows = self.run_problem("--check-only", problem="set", kernels=None)
        self.assertEqual({"problem_one": "pass", "problem_2_two": "pass"}, {row["op"]: row["status"] for row in rows})
        self.assertIn("name one of them by --problem", self.refusal("set", "new.py"))
        self.write("new/one.py", NEW.format(body=RIGHT))
        self.write("new/2-two.py", NEW.format(body=RIGHT.replace("return ", "return torch.log(") + ")"))
        rows = self.run_problem("--check-only", problem="set", kernels="new", out="new-ones", expect=1)
        self.assertEqual("pass", {row["op"]: row["status"] for row in rows}["problem_one"])
        self.write("new/three.py", NEW.format(body=RIGHT))
        self.assertIn("three.py is a solution of no problem", self.refusal("set", "new"))

    def test_a_refused_problem_of_a_folder_is_told(self):
        self.write("set/one.py", PROBLEM)
        self.write("set/two.py", PROBLEM.replace("self.layer(x)", "self.layer(x.half())"))
        rows = self.run_problem("--check-only", problem="set", kernels=None, expect=3)
        by_op = {row["op"]: row for row in rows}
        self.assertEqual(("pass", "skip"), (by_op["problem_one"]["status"], by_op["problem_two"]["status"]))
        self.assertIn("two.py:14: x.half() fixes a dtype", by_op["problem_two"]["reason"])
        self.write("set/one.py", "import nowhere\n")
        self.assertIn("no problem of the folder can be judged", self.refusal("set"))
        self.write("empty/text.txt", "")
        self.assertIn("has no file NAME.py", self.refusal("empty"))
        self.write("set/o-ne.py", PROBLEM)
        self.write("set/o_ne.py", PROBLEM)
        self.assertIn("are both called problem_o_ne", self.refusal("set"))

    def test_a_changed_problem_ends_the_run(self):
        self.run_problem("--check-only")
        self.write("mine.py", PROBLEM.replace("softmax", "log_softmax"))
        self.assertIn("have changed since the run began", self.assay("run", "--resume", "out", expect=2).stderr)

    def test_a_solution_cannot_rewrite_its_problem(self):
        self.write("new.py", """text = open("mine.py").read()
open("mine.py", "w").write(text.replace("return torch.softmax(", "return 0 * torch.softmax("))
""" + NEW.format(body="return torch.zeros(40, 24)"))
        row, = self.run_problem(*CASE, "--check-only", expect=4)
        self.assertNotEqual("pass", row["status"])
        self.assertIn("return 0 *", (self.folder / "mine.py").read_text(encoding="utf-8"), "it did try")

    def test_sides_share_their_problem(self):
        """The base is the Model itself. Whether the other is faster depends on the machine, and its load."""
        same = self.assay("ab", "--problem", "mine.py", "--cand-kernels", "torch", "--device", "cpu", expect=2)
        self.assertIn("both sides are the same program", same.stderr)
        compared = subprocess.run([ASSAY, "ab", "--problem", "mine.py", "--cand-kernels", "new.py", "--device", "cpu", "--rounds",
                                   "6", "--confirm", "6", "--out", "ab"], cwd=self.folder, capture_output=True, text=True, check=False)
        self.assertIn(compared.returncode, (0, 1, 5), compared.stderr)
        self.assertIn("kernels of torch: PyTorch", compared.stderr)
        self.assertIn("kernels of new.py: new.py", compared.stderr)
        row, = self.rows("ab", "ab.csv")
        self.assertEqual("problem_mine/f32", row["case_id"])

    def test_compiled_models_need_torch_compile(self):
        says = "import torch; print(hasattr(torch, 'compile'))"
        if subprocess.run([self.python, "-c", says], capture_output=True, text=True, check=True).stdout.strip() == "False":
            self.assertIn("has no torch.compile", self.refusal("mine.py", "compiled"))

    def test_the_page_has_speed_ups_over_eager_and_compiled(self):
        self.run_problem("--profile", "smoke", out="mine")
        self.run_problem("--profile", "smoke", kernels="torch", out="eager")
        # A stand-in: not every Python that has PyTorch can compile.
        self.write("compile/sitecustomize.py", "import torch\ntorch.compile = lambda model: model\n")
        with unittest.mock.patch.dict(os.environ, PYTHONPATH=str(self.folder / "compile")):
            row, = self.run_problem("--profile", "smoke", kernels="compiled", out="compiled")
        self.assertIn("Model, compiled", row["implementation"])
        self.assay("report", "mine", "eager", "-o", "two.html")
        self.assertEqual(["no run"], self.speed_ups("two.html")[1:])
        self.assay("report", "mine", "eager", "compiled", "-o", "three.html")
        over_eager, over_compiled = map(float, self.speed_ups("three.html"))
        times = [float(self.rows(out)[0]["time_median_s"]) for out in ("eager", "compiled", "mine")]
        self.assertAlmostEqual(times[0] / times[2], over_eager, delta=0.01 * over_eager)
        self.assertAlmostEqual(times[1] / times[2], over_compiled, delta=0.01 * over_compiled)

    def speed_ups(self, page):
        """The cells over eager and over compiled of the only solution."""
        text = (self.folder / page).read_text(encoding="utf-8")
        section = text.partition('<section id="models"')[2].partition("</section>")[0]
        row = next(line for line in section.splitlines() if 'class="number"' in line and "problem_mine" in line)
        cells = re.findall(r'<td class="number"[^>]*>([^<]*)', row)
        return [cell.strip().rstrip("×") for cell in cells]


if __name__ == "__main__":
    unittest.main()
