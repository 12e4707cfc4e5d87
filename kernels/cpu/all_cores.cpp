#include "kernels/cpu/all_cores.h"

#include <omp.h>
#include <sched.h>

#include <cstddef>
#include <vector>

namespace assay::cpu {

cpu_set_t usable_processors() {
  cpu_set_t usable;
  CPU_ZERO(&usable);
  for (int place = 0; place < omp_get_num_places(); ++place) {
    std::vector<int> processors(static_cast<std::size_t>(omp_get_place_num_procs(place)));
    omp_get_place_proc_ids(place, processors.data());
    for (const int processor : processors) CPU_SET(static_cast<unsigned>(processor), &usable);
  }
  if (CPU_COUNT(&usable) == 0) sched_getaffinity(0, sizeof usable, &usable);
  return usable;
}

void use_all_cores() {
  const cpu_set_t cores = usable_processors();
  sched_setaffinity(0, sizeof cores, &cores);
}

}  // namespace assay::cpu
