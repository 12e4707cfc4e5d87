#include "session/run/run.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/run_flags.h"
#include "cli/stored_command.h"
#include "session/process/this_launch.h"
#include "session/workers/mpi_job.h"
#include "session/workers/worker_command.h"

namespace assay::cli {

Command add_run(CLI::App& program) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* app = program.add_subcommand("run", "verify, measure, and write a run directory");
  app->footer(R"(Examples:
  assay run                                  the default profile on the CPU and every GPU
  assay run --profile smoke --device cpu     a minute's worth
  assay run --suite linear --axis dtype=bf16 --axis batch=1,64
  assay run --case linear/f32/batch=2,in=3,out=1,bias=1,act=none --seed 7
  assay run --check-only --require cuda:8    a gate: exit 3 with fewer than eight GPUs
  assay run --problem head.py --kernels new.py    a ModelNew against its Model in f64
  assay run --budget 300 --retries 2 --expected known.csv --wait    a gate on a shared runner
  assay run --resume assay-runs/TIME-HOST    complete a killed run)");
  add_run_options(*app, *options);
  return {app, [app, options] {
            if (const auto launch = this_launch(); launch && launch->rank > 0) {
              return serve_rank(*launch, worker_command(options->selection));
            }
            // True even if it is empty: a script's unset variable must not begin another run.
            const bool resumes = app->count("--resume") > 0;
            if (resumes) refuse_with_resume(*app, "a run is completed as it was begun");
            Job job = resumes ? resume_job(*options, parse_run_options) : begin_job(*options);
            return run(job);
          }};
}

}  // namespace assay::cli
