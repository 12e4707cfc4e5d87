#include "session/machine/backends.h"

#include <algorithm>
#include <utility>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/traits.h"
#include "kernels/cuda/traits.h"
#include "kernels/device/launcher.h"
#include "kernels/numa/backend.h"
#include "kernels/numa/traits.h"
#include "kernels/ranks/backend.h"
#include "kernels/ranks/traits.h"
#include "kernels/sim/backend.h"
#include "kernels/sim/traits.h"
#include "session/process/this_launch.h"

namespace assay {

Backends own_backends() {
  Backends backends;
  backends.add(cpu::make_backend());
  backends.add(numa::make_backend());
  for (const auto& folder : module_folders()) backends.load_modules(folder);
  return backends;
}

std::unique_ptr<const Backends> all_backends(int sim_devices, std::vector<sim::Fault> faults) {
  auto backends = std::make_unique<Backends>();
  backends->add(cpu::make_backend());
  backends->add(numa::make_backend());
  if (sim_devices > 0) backends->add(sim::make_backend(sim_devices, std::move(faults)));
  for (const auto& folder : module_folders()) backends->load_modules(folder);
  if (const auto launch = this_launch()) {
    backends->add(ranks::make_backend(
        *launch, [launch] { return join_job(*launch, module_folders()); }, *backends));
  }
  return backends;
}

std::vector<BackendTraits> known_backends(const protocol::Hello& machine) {
  std::vector<BackendTraits> known;
  const auto add = [&](const BackendTraits& traits) {
    const auto found = std::ranges::find(known, traits.kind, &BackendTraits::kind);
    if (found == known.end()) known.push_back(traits);
  };
  std::ranges::for_each(machine.backends, add);  // two modules may have the same name
  for (const BackendTraits& traits :
       {cpu::traits(), numa::traits(), cuda::traits(), ranks::traits(), sim::traits()}) {
    add(traits);
  }
  return known;
}

std::vector<std::string> kinds_of(const std::vector<BackendTraits>& backends) {
  std::vector<std::string> kinds;
  for (const BackendTraits& traits : backends) kinds.push_back(traits.kind);
  return kinds;
}

}  // namespace assay
