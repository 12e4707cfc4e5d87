#pragma once

#include <barrier>
#include <cstdint>
#include <exception>
#include <functional>
#include <thread>
#include <vector>

namespace assay::cpu {

/// Ranks of a collective as threads that wait for work: a launch costs two barriers instead of
/// thread starts.
class RankTeam {
 public:
  explicit RankTeam(int ranks);
  ~RankTeam();
  RankTeam(const RankTeam&) = delete;
  RankTeam& operator=(const RankTeam&) = delete;

  /// Runs `work(rank)` on all ranks at once and waits for them. Rethrows the error of the first
  /// rank.
  void run(const std::function<void(int)>& work);

  int ranks() const { return static_cast<int>(threads_.size()); }

 private:
  void serve(int rank);

  std::barrier<> start_;
  std::barrier<> finish_;
  const std::function<void(int)>* work_ = nullptr;  // null: exit
  std::vector<std::exception_ptr> errors_;
  std::vector<std::thread> threads_;
};

}  // namespace assay::cpu
