#include "session/ab/ab.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/ab_flags.h"
#include "cli/command.h"

namespace assay::cli {

Command add_ab(CLI::App& program) {
  auto options = std::make_shared<AbOptions>();
  CLI::App* app = program.add_subcommand(
      "ab", "compare two builds, paired and interleaved on this machine: the regression gate");
  add_ab_options(*app, *options);
  app->footer(
      R"(Ten rounds of every case, each in fresh processes, pick suspects; forty fresh rounds of those
decide. Exit 5 on a confirmed regression, 1 if a result is wrong, 4 after a crash or a time-out,
6 with --fail-on-inconclusive if every case is inconclusive.
docs/ab.md says how far the verdicts can be trusted.

Examples:
  assay ab --base old/bin/assay --profile smoke      is this build slower than that one?
  assay ab --cand-kernels ./mine.so --suite linear   your kernels beside the built-in ones
  assay ab --base-kernels torch --cand-kernels mine.py    yours beside PyTorch's
  assay ab --problem head.py --cand-kernels new.py        a ModelNew beside its Model
  assay ab --base-env LD_LIBRARY_PATH=/opt/onednn-3.5/lib --suite linear    another library
  assay ab --aa --profile smoke --spread here.json   the noise floor of this machine
  assay ab --base old/bin/assay --profile smoke --spread here.json    a gate that allows for it
  assay ab --base old/bin/assay --fail-on-inconclusive     red too if noise hid everything
  assay ab --base old/bin/assay --sensitive --filter 'gelu/f32')");
  return {app, [options] { return compare_builds(*options); }};
}

}  // namespace assay::cli
