#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "cli/command.h"
#include "session/kernels/serve_kernels.h"

namespace assay::cli {

Command add_serve_kernels(CLI::App& program) {
  struct Options {
    std::string file;
    TrialOptions trials;
  };
  auto options = std::make_shared<Options>();
  CLI::App* app = program.add_subcommand(serve_kernels_name, "runs the kernels of a library");
  app->group("");  // not in --help
  app->add_option("FILE", options->file)->required();
  add_host_options(*app, options->trials);
  return {app, [options] { return serve_library(options->file, options->trials); }};
}

}  // namespace assay::cli
