#pragma once

#include <map>
#include <memory>
#include <string>

#include "kernels/device/communicator.h"

namespace assay::cpu {

class GlooRanks;

/// Connects ranks, which are threads of this process, by Gloo over TCP on the loopback interface.
/// Connecting takes longer than a small collective: ranks are kept for the next trial that wants as
/// many, unless one of their launches failed.
class Gloo {
 public:
  /// `dead_rank`, for a simulated fault, connects and then never takes part; its ranks are not
  /// kept.
  std::unique_ptr<Communicator> connect(int ranks, int dead_rank = -1);

 private:
  std::map<int, std::shared_ptr<GlooRanks>> kept_;  // by their number
};

/// "Gloo 0.5.0"
std::string gloo_version_text();

}  // namespace assay::cpu
