#include "session/soak/soak.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/soak_flags.h"
#include "cli/stored_command.h"

namespace assay::cli {

Command add_soak(CLI::App& program) {
  auto options = std::make_shared<SoakOptions>();
  CLI::App* app = program.add_subcommand(
      "soak", "keep all devices busy for hours, and compare every bit of what they compute");
  add_soak_options(*app, *options);
  app->footer(
      R"(Matrix products of exact data and copies of unique words run on every device at once. All bits of
all results are compared, wrong ones are counted, and the end states how rare they are at most.

Examples:
  assay soak --for 8h                          the CPU and every GPU
  assay soak --for 30m --device cuda --require cuda:8 --fail-fast
  assay soak --for 1h --case linear/bf16/batch=8192,in=8192,out=8192,bias=0,act=none
  assay soak --resume assay-soaks/TIME-HOST    goes on for the remaining time)");
  return {app, [app, options] {
            const bool resumes = app->count("--resume") > 0;
            if (resumes) refuse_with_resume(*app, "a soak goes on as it was begun");
            SoakJob job =
                resumes ? resume_soak(*options, parse_soak_options) : begin_soak(*options);
            return soak(job);
          }};
}

}  // namespace assay::cli
