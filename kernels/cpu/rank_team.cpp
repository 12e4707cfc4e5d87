#include "kernels/cpu/rank_team.h"

#include <omp.h>
#include <sched.h>

#include <utility>

namespace assay::cpu {
namespace {

/// OpenMP may have pinned the creating thread to one core, and threads inherit that: ranks would
/// then share it. Gives the calling thread all cores of OpenMP's places, where it has any.
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

}  // namespace

RankTeam::RankTeam(int ranks)
    : start_(ranks + 1), finish_(ranks + 1), errors_(static_cast<std::size_t>(ranks)) {
  threads_.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) threads_.emplace_back([this, rank] { serve(rank); });
}

RankTeam::~RankTeam() {
  work_ = nullptr;
  start_.arrive_and_wait();
  for (std::thread& thread : threads_) thread.join();
}

void RankTeam::run(const std::function<void(int)>& work) {
  work_ = &work;
  start_.arrive_and_wait();
  finish_.arrive_and_wait();
  for (std::exception_ptr& error : errors_) {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
}

void RankTeam::serve(int rank) {
  use_all_cores();
  for (;;) {
    start_.arrive_and_wait();
    if (work_ == nullptr) return;
    try {
      (*work_)(rank);
    } catch (...) {
      errors_[static_cast<std::size_t>(rank)] = std::current_exception();
    }
    finish_.arrive_and_wait();
  }
}

}  // namespace assay::cpu
