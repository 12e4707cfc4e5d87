#include "kernels/cpu/rank_team.h"

#include <utility>

#include "kernels/cpu/all_cores.h"

namespace assay::cpu {
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
