#include "emulator/libraries/nccl/group.h"

#include <atomic>
#include <utility>
#include <vector>

namespace emulator::nccl {
namespace {

std::uint64_t next_number() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

struct Group {
  int depth = 0;
  std::uint64_t number = 0;
  Result error = success;
  std::vector<Deferred> calls;
};
thread_local Group group;

Result run(const std::vector<Deferred>& calls) {
  for (const auto part : {&Deferred::begin, &Deferred::finish}) {
    for (const Deferred& call : calls) {
      if (!(call.*part)) continue;
      if (const Result result = (call.*part)(); result != success) return result;
    }
  }
  return success;
}

}  // namespace

void start_group() {
  if (group.depth++ == 0) group.number = next_number();
}

Result end_group() {
  if (group.depth == 0) return invalid_usage;
  if (--group.depth > 0) return success;
  const std::vector<Deferred> calls = std::exchange(group.calls, {});
  const Result error = std::exchange(group.error, success);
  return error == success ? run(calls) : error;
}

Result defer(Deferred call) {
  if (group.depth == 0) return run({std::move(call)});
  group.calls.push_back(std::move(call));
  return success;
}

Result failed(Result error) {
  if (group.depth > 0 && group.error == success) group.error = error;
  return error;
}

std::uint64_t this_thread() {
  thread_local const std::uint64_t number = next_number();
  return number;
}

std::uint64_t this_group() { return group.depth > 0 ? group.number : next_number(); }

}  // namespace emulator::nccl
