#pragma once

#include <barrier>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace assay::cpu {

/// The ranks of a collective as threads that wait for work, so that a launch costs two barriers and
/// not the start of threads.
class RankTeam {
 public:
  explicit RankTeam(int ranks);
  ~RankTeam();
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  /// Runs `work(rank)` on every rank at once and waits for all. Rethrows the first rank's error.
  void run(const std::function<void(int)>& work);

  int ranks() const { return static_cast<int>(threads_.size()); }

 private:
  void serve(int rank);

  std::barrier<> start_;
  std::barrier<> finish_;
  const std::function<void(int)>* work_ = nullptr;  // null: leave
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
};

}  // namespace assay::cpu
