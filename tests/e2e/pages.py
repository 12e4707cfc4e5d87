"""What the tests of `assay report` share: run directories made of one real run, and a page taken apart."""
import base64
import csv
import gzip
import html.parser
import io
import json
import random
import shutil

from support import AssayTest

SELECTION = ("--profile", "seeds", "--suite", "tensor_ops,linear,transfers,allreduce", "--filter",
             "/(copy|add|sub|exp|sum)/(f32|i64)/|linear/f32|transfers|allreduce/f32")
FAULTS = ("--sim-fault", "low_bit,op=add,device=1", "--sim-fault", "segv,op=sub,device=0")

# What must stay text wherever a page shows it. Lines that end in CR LF, and separators that end lines of old JavaScript.
HOSTILE = ("<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "</style><b>bold</b><!--",
           "\"double\", 'single' and `back` quotes", "two\nlines,\r\nno three", "a\u2028line\u2029separator", "W" * 400,
           "javascript:alert(1)", "&lt;&amp;&#60;script&#62;", "]]>", "\u202eback to front", "漢字 ✗ 🎉", "=1+1", "#row=0.0",
           " blanks at its ends ", "a\ttab", "100%27%22%3E", "{{x}} ${x}")


class Page(html.parser.HTMLParser):
    """The elements of a page in order, and the files embedded in it."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.text = text
        self.elements = []  # (name, attributes, text directly in it)
        self.open = []
        self.feed(text)
        self.close()

    VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}

    def handle_starttag(self, name, attributes):
        self.elements.append([name, dict(attributes), ""])
        if name not in self.VOID:
            self.open.append(self.elements[-1])

    def handle_startendtag(self, name, attributes):
        self.elements.append([name, dict(attributes), ""])

    def handle_endtag(self, name):
        ended = self.open.pop()
        assert ended[0] == name, f"</{name}> ends <{ended[0]}>"

    def handle_data(self, data):
        if self.open:
            self.open[-1][2] += data

    def all(self, name, **attributes):
        return [e for e in self.elements if e[0] == name
                and all(value in (e[1].get(key.rstrip("_")) or "").split() for key, value in attributes.items())]

    def texts(self, name, **attributes):
        return [text for _, _, text in self.all(name, **attributes)]

    def said(self):
        """All that a reader can see or hear, without what is in the style and the script."""
        return "\n".join(text for name, _, text in self.elements if name not in ("style", "script"))

    def sections(self):
        return [attributes["id"] for _, attributes, _ in self.all("section")]

    def files(self):
        """The embedded files, in order: (name, bytes)."""
        files = []
        for _, attributes, _ in self.all("a", class_="file"):
            head, packed = attributes["href"].split(",", 1)
            assert head == "data:application/gzip;base64", head
            files.append((attributes["data-name"], gzip.decompress(base64.b64decode(packed, validate=True))))
        return files

    def rows(self, file):
        """The rows of an embedded CSV file by its number: lists of cells, without the header."""
        text = self.files()[file][1].decode("utf-8")
        return list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:]

    def row_links(self):
        """All links to rows: (file, row)."""
        prefix = "#row="
        return [tuple(map(int, a[1]["href"][len(prefix):].split("."))) for a in self.all("a")
                if a[1].get("href", "").startswith(prefix)]


class ReportTest(AssayTest):
    """Run directories are made of the rows of one real run on two simulated devices, in which `add` is wrong on one
    and `sub` crashes on the other."""

    real = None
    FILES = ("run.json", "devices.csv", "results.csv")

    def setUp(self):
        super().setUp()
        if ReportTest.real is None:
            self.assay("run", *SELECTION, "--sim-devices", 2, "--device", "sim", *FAULTS, "--quiet", "--out", "real",
                       expect=1)
            ReportTest.real = {name: (self.folder / "real" / name).read_text(encoding="utf-8") for name in self.FILES}
            shutil.rmtree(self.folder / "real")
        self.random = random.Random(1)

    def real_rows(self, file="results.csv"):
        return list(csv.DictReader(io.StringIO(ReportTest.real[file], newline=""), strict=True))

    def write_csv(self, path, rows, names=None):
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, names or list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def write_run(self, name, rows=None, devices=None, limits=None, **run):
        """A run directory; `rows` are those of the real run unless given."""
        folder = self.folder / name
        folder.mkdir(parents=True)
        real = self.real_rows()
        known = json.loads(ReportTest.real["run.json"])
        rows = real if rows is None else rows
        run_id = run.get("run_id", known["run_id"])
        (folder / "run.json").write_text(json.dumps({**known, "planned": len(rows), **run}), encoding="utf-8")
        self.write_csv(folder / "results.csv", [{**row, "run_id": run_id} for row in rows], list(real[0]))
        self.write_csv(folder / "devices.csv", devices or self.real_rows("devices.csv"))
        if limits:
            self.write_csv(folder / "limits.csv", limits)
        return folder

    def write_mixed(self, name="mixed"):
        """Whatever a page can show of one run: right, wrong and broken results, known failures, skips, limits."""
        rows = self.real_rows()
        for row in rows:
            if row["op"] == "exp" and row["device"] == "sim:1":
                row.update(status="skip", reason="unsupported dtype", time_median_s="", timing="")
            if row["op"] == "sub" and row["dtype"] == "i64" and row["status"] == "crash":
                row.update(expected_failure="driver bug 4711")
        return self.write_run(name, self.with_times(rows), limits=self.limits_of("sim:0", "sim:1"), exit_code=1,
                              notes=["a note of the run"])

    def with_times(self, rows, factor=1.0, bandwidth=2e10):
        """Times for all that is right and moves bytes: 16 sizes' worth of them, with as many digits as real ones. Their rows
        play real devices': what stands for one has no speed."""
        for row in rows:
            if row["status"] != "pass" or not float(row["bytes"] or 0) > 0:
                continue
            time_s = factor * (1e-6 + float(row["bytes"]) / bandwidth) * (1 + 0.02 * self.random.random())
            spread = 0.01 + 0.01 * self.random.random()
            row.update(timing="batch", stand_in="", samples="40", stop_reason="converged", time_min_s=repr(time_s * (1 - 2 * spread)),
                       time_q1_s=repr(time_s * (1 - spread)), time_median_s=repr(time_s),
                       time_q3_s=repr(time_s * (1 + spread)), time_ci_low_s=repr(time_s * (1 - spread / 2)),
                       time_ci_high_s=repr(time_s * (1 + spread / 2)), noise=repr(spread),
                       bandwidth_bytes_per_s=repr(float(row["bytes"]) / time_s),
                       fraction_of_limit=repr(float(row["bytes"]) / time_s / 1.1 / bandwidth), limit="memory_triad",
                       contended="false")
            if float(row["flops"] or 0) > 0:
                row.update(flops_per_s=repr(float(row["flops"]) / time_s))
        return rows

    def limits_of(self, *devices):
        limits = []
        for device in devices:
            for name, unit, value in (("memory_triad", "B/s", 2.2e10), ("matrix_f32", "FLOP/s", 4e10)):
                limits.append({"device": device, "limit": name, "status": "pass", "reason": "", "unit": unit,
                               "value": repr(value), "ci_low": repr(value * 0.98), "ci_high": repr(value * 1.02),
                               "theoretical": "", "case_id": "tensor_ops/triad/f32/n=16777216",
                               "implementation": "OpenMP loop", "launched_by": "loop", "samples": "40",
                               "stop_reason": "converged", "noise": "0.01", "clock_hz": "", "throttled": "",
                               "contended": "false", "device_uuid": "", "started_at": "2026-01-01T00:00:00.000Z"})
        return limits

    def write_hostile(self, name="hostile"):
        """A run whose every free text is one of HOSTILE. The names of devices stay plain where the engine reads them."""
        rows = self.with_times(self.real_rows())[:3 * len(HOSTILE)]
        for i, row in enumerate(rows):
            text = HOSTILE[i % len(HOSTILE)]
            status = ("pass", "fail", "crash")[i // len(HOSTILE)]
            row.update(case_id=f"tensor_ops/{text}/{i}", reason=text if status != "pass" else "", host=text, status=status,
                       op=text, params=text, device_name=text, implementation=text, oracle=text, worst_expected=text,
                       worst_actual=text, replay=f"assay run --case {text}", worst_index="1", limit="",
                       fraction_of_limit="", attempt="1", repeat="1", device="sim:0")
        devices = self.real_rows("devices.csv")
        for i, device in enumerate(devices):
            device.update(name=HOSTILE[i], architecture=HOSTILE[i + 2], libraries=HOSTILE[i + 4], driver=HOSTILE[i + 6])
        return self.write_run(name, rows, devices, exit_code=1, host=HOSTILE[0], notes=list(HOSTILE),
                              command_line=["assay", *HOSTILE], git_revision=HOSTILE[1], run_id=HOSTILE[2],
                              environment={"OMP_PROC_BIND": HOSTILE[3]}, build_type=HOSTILE[5])

    def write_default(self, name="default", devices=4):
        """As many rows as the default profile leaves on so many devices, made of rows of the same op or at least suite."""
        models = {}
        # The same ones in whatever order rows were written; those without times, which are added below, where there are.
        for row in sorted(self.real_rows(), key=lambda row: (row["timing"] == "", row["case_id"], row["device"])):
            if row["status"] == "pass":
                models[row["suite"]] = models[row["suite"], row["op"]] = row
        rows = []
        for i, trial in enumerate(self.trials("--profile", "default", "--sim-devices", devices, "--device", "sim")):
            model = models.get((trial["suite"], trial["op"])) or models.get(trial["suite"]) or models["tensor_ops"]
            size = 2 ** self.random.randrange(8, 28)
            digits = [self.random.random() for _ in range(5)]
            row = {**model, "suite": trial["suite"], "case_id": trial["case_id"], "op": trial["op"], "dtype": trial["dtype"],
                   "started_at": f"2026-01-01T{i // 3600 % 24:02}:{i // 60 % 60:02}:{i % 60:02}.{i * 37 % 1000:03}Z",
                   "device": trial["device"], "timing": "", "bytes": str(size), "flops": str(size // 4),
                   "params": ";".join(f"{k}={v}" for k, v in trial["params"].items()),
                   "replay": f"assay run --case {trial['case_id']} --device {trial['device']} --seed 1"}
            if i % 5 < 2:  # as many have an error above zero in a real run
                row.update(max_bound_ratio=f"{digits[0]:.6g}", max_ulp=f"{digits[1]:.6g}", max_abs_error=f"{digits[2]:.6g}",
                           worst_index=str(int(digits[0] * size)), worst_rank="0", worst_expected=repr(digits[3]),
                           worst_actual=repr(digits[4]), worst_ratio=f"{digits[0]:.6g}")
            rows += self.with_times([row]) if trial["timing"] else [row]
        model = self.real_rows("devices.csv")[0]
        names = [f"sim:{i}" for i in range(devices)]
        return self.write_run(name, rows, [{**model, "device": d} for d in names],
                              self.limits_of(*names), exit_code=0)

    def write_history(self, name="runs", runs=24):
        """A folder of runs, the later half of which is 20% slower."""
        rows = [row for row in self.real_rows() if row["op"] in ("copy", "exp") and row["device"] == "sim:0"]
        for i in range(runs):
            self.write_run(f"{name}/r{i:02}", self.with_times([dict(row) for row in rows], 1.2 if i >= runs // 2 else 1),
                           run_id=f"r{i:02}", started_at=f"2026-01-{i + 1:02}T00:00:00.000Z", git_revision=f"{i:012x}",
                           exit_code=0)
        return self.folder / name

    def write_paired(self, name="paired"):
        """What `assay ab` leaves: a slower case, a faster one, one without times."""
        folder = self.folder / name
        folder.mkdir()
        side = {"program": "/opt/assay/bin/assay", "build_id": "0.1.0 aaaaaaaaaaaa Release", "environment": {},
                "sim_faults": [], "devices": []}
        (folder / "ab.json").write_text(json.dumps({
            "schema": 1, "run_id": "paired", "host": "node7", "started_at": "2026-01-01T00:00:00.000Z",
            "ended_at": "2026-01-01T00:10:00.000Z", "interrupted": False, "exit_code": 5, "wall_s": 600.0,
            "command_line": ["assay", "ab"], "base": side, "cand": {**side, "environment": {"OMP_NUM_THREADS": "2"}},
            "environment": {}, "seed": 1, "planned": 4, "margin": 0.02, "margin_reason": "of this test",
            "screen": {"rounds": 10, "p": 0.15}, "confirm": {"rounds": 40, "p": 0.05}, "samples": 20,
            "notes": ["a note"]}), encoding="utf-8")
        names = ("case_id,device,timing,verdict,reason,ratio,ratio_low,ratio_high,stage,rounds,margin,p_screen,p_confirm,"
                 "p_holm,base_median_s,cand_median_s,disturbed_rounds,base_implementation,cand_implementation").split(",")
        rows = [("equivalent", 1.001, 0.002), ("regressed", 1.2, 0.01), ("improved", 0.8, 0.01), ("added", None, None)]
        self.write_csv(folder / "ab.csv", [dict(zip(names, (
            f"tensor_ops/add/f32/n={i}", "sim:0", "batch", verdict, "" if ratio else "the base has no such op", ratio or "",
            ratio - spread if ratio else "", ratio + spread if ratio else "", "confirm" if ratio else "",
            "40" if ratio else "", "0.02", "", "", "", "1e-6" if ratio else "", "1e-6" if ratio else "", "", "", "")))
            for i, (verdict, ratio, spread) in enumerate(rows)], names)
        return folder

    def report(self, *arguments, out="report.html", **options):
        """Writes a page and takes it apart."""
        self.assay("report", *arguments, "-o", out, **options)
        return Page((self.folder / out).read_bytes().decode("utf-8"))
