#pragma once

namespace emulator {

/// Whether the calling thread runs a function that the program has put on a stream. Such a function
/// must not call CUDA.
bool is_in_host_function();

/// The thread runs one for as long as this lives.
class InHostFunction {
 public:
  InHostFunction();
  ~InHostFunction();
  InHostFunction(const InHostFunction&) = delete;
  InHostFunction& operator=(const InHostFunction&) = delete;
};

}  // namespace emulator
