#pragma once

#include "session/ab/ab_options.h"

namespace CLI {
class App;
}

namespace assay::cli {

void add_ab_options(CLI::App& app, AbOptions& options);

}  // namespace assay::cli
