#include "kernels/cpu/all_cores.h"

#include <omp.h>
#include <sched.h>

#include <cstddef>
#include <vector>

namespace assay::cpu {

void use_all_cores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors) CPU_SET(static_cast<unsigned>(processor), &cores);
  }
  if (CPU_COUNT(&cores) > 0) sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace assay::cpu
