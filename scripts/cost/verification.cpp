// Measures the cost of judging beside the work that is judged. The measurements are paired and
// interleaved, for shared and noisy machines.
// Usage: verification_cost PATH_OF_ASSAY [ROUNDS]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/execute/verify_launch.h"
#include "harness/plan/case.h"
#include "kernels/core/clock.h"
#include "kernels/core/parallel.h"
#include "kernels/cpu/backend.h"

namespace assay {
namespace {

constexpr const char* product = "linear/f32/batch=4096,in=4096,out=4096,bias=0,act=none";

/// A case that moves its arrays rather than computes with them. Judging reads input and output for
/// the reference, and the input on both sides to see that it is unchanged.
struct SmallTensors {
  const char* case_id;
  double compared_pairs;  // of arrays, in a launch
  double copies;          // of the output, in a launch: one of two launches keeps it for later ones
};
constexpr SmallTensors small_tensors[] = {
    {.case_id = "tensor_ops/relu/f32/n=16777216", .compared_pairs = 2, .copies = 0.5},
    {.case_id = "tensor_ops/sum/f32/n=16777216", .compared_pairs = 1.5, .copies = 0}};

struct Spread {
  double low, median, high;
};

/// Quartiles and median.
Spread spread(std::vector<double> values) {
  std::ranges::sort(values);
  const auto quarter = [&](std::size_t i) { return values[(values.size() - 1) * i / 4]; };
  return {quarter(1), quarter(2), quarter(3)};
}

void print(const std::string& what, const std::vector<double>& values, const char* unit,
           double factor = 1) {
  const Spread s = spread(values);
  fmt::print("  {:<66} {:8.3f} {:<2} ({:.3f} to {:.3f})\n", what, s.median * factor, unit,
             s.low * factor, s.high * factor);
}

/// A case on the CPU with the inputs of its last pass, ready to launch without any harness.
class Bare {
 public:
  explicit Bare(const std::string& case_id)
      : op_(parse_case_id(case_id).op),
        device_(backend_->open(0)),
        lane_{device_.get()},
        trial_(op_, *backend_, lane_),
        inputs_(generate_inputs(op_, static_cast<int>(passes(op_).size()) - 1, 1, 1)) {
    trial_.tensors().upload(inputs_);
    trial_.arm({});
  }
  double launch_s() {
    const double begin_s = steady_s();
    trial_.launch();
    trial_.synchronize();
    return steady_s() - begin_s;
  }

  /// Seconds of everything but inputs and launches, over all passes of the case.
  double judging_s() {
    PhaseClock clock;
    ReferenceStore references{{}};
    const Checks checks;
    Judge judge(op_, checks, references, "", clock);
    Findings findings;
    for (int pass = 0; pass < std::ssize(passes(op_)); ++pass) {
      clock.enter(&PhaseSeconds::input);
      regenerate_inputs(op_, pass, 1, inputs_);
      judge.launch(trial_, pass, inputs_, findings, outputs_);
    }
    const PhaseSeconds phases = clock.take();
    return phases.reference + phases.comparison;
  }
  std::ptrdiff_t launches() const { return std::ssize(passes(op_)); }

 private:
  OpInstance op_;
  std::unique_ptr<Backend> backend_ = cpu::make_backend();
  std::unique_ptr<Device> device_;
  std::vector<Device*> lane_;
  Trial trial_;
  RankInputs inputs_;
  std::vector<HostTensor> outputs_;
};

/// Seconds of a whole `assay run --check-only` of the case, from start to end of the process.
double process_s(const std::string& program, const std::string& case_id) {
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("assay-cost-{}", getpid());
  const double begin_s = steady_s();
  const pid_t child = fork();
  if (child == 0) {
    const std::string out = folder.string();
    execl(program.c_str(), program.c_str(), "run", "--case", case_id.c_str(), "--device", "cpu",
          "--check-only", "--quiet", "--out", out.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    throw std::runtime_error("the case did not pass: " + program + " run --case " + case_id);
  }
  const double taken_s = steady_s() - begin_s;
  std::filesystem::remove_all(folder);
  return taken_s;
}

constexpr std::int64_t n = 1 << 24;

/// Floats on pages like those of the tensors that are judged.
HostTensor filled() {
  HostTensor tensor({.dtype = DType::f32, .shape = {n}});
  std::ranges::fill(tensor.as<float>(), 1.5F);
  return tensor;
}

/// Seconds of body(first, count) for runs of all n elements, on all threads.
template <class Body>
double loop_s(const Body& body) {
  const double begin_s = steady_s();
  parallel_runs(n, 1 << 16, [&](std::int64_t first, std::int64_t count) {
    body(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
  });
  return steady_s() - begin_s;
}

/// Seconds of a loop that reads and compares two arrays.
double compare_loop_s(std::span<const float> a, std::span<const float> b) {
  std::atomic<std::size_t> differ = 0;
  const double taken_s = loop_s([&](std::size_t first, std::size_t count) {
    std::size_t found = 0;
    for (std::size_t i = first; i < first + count; ++i) found += a[i] == b[i] ? 0 : 1;
    differ += found;
  });
  if (differ != 0) throw std::runtime_error("arrays that are alike differ");
  return taken_s;
}

double copy_loop_s(std::span<float> to, std::span<const float> from) {
  return loop_s([&](std::size_t first, std::size_t count) {
    std::memcpy(&to[first], &from[first], count * sizeof(float));
  });
}

void cost_of_product(const std::string& program, int rounds) {
  // The first fork comes before this process uses OpenMP, which does not survive a fork.
  std::vector<double> whole, launch, beyond_two, beyond_three;
  for (int round = 0; round < rounds; ++round) {
    whole.push_back(process_s(program, product));
    // Prepares the library anew in each round, as the process does: the process's time includes the
    // first launch.
    Bare bare(product);
    bare.launch_s();
    launch.push_back(bare.launch_s());
    beyond_two.push_back(whole.back() - 2 * launch.back());
    beyond_three.push_back(whole.back() - 3 * launch.back());
  }
  fmt::print("\n{}, on exact and on real data, {} rounds: median (quartiles)\n", product, rounds);
  print("the library's own execution of one launch", launch, "s");
  print("assay run --check-only, the whole process", whole, "s");
  print("beyond two launches (exact, real)", beyond_two, "s");
  print("beyond the three that it makes (exact, real, repeated)", beyond_three, "s");
}

void cost_of_judging(const SmallTensors& small, int rounds) {
  const HostTensor a = filled(), b = filled();
  HostTensor kept = filled();
  Bare bare(small.case_id);
  std::vector<double> loop, memory, judging, ratio, of_memory;
  for (int round = 0; round < 3 * rounds; ++round) {
    loop.push_back(compare_loop_s(a.as<float>(), b.as<float>()));
    memory.push_back(small.compared_pairs * loop.back() +
                     small.copies * copy_loop_s(kept.as<float>(), b.as<float>()));
    judging.push_back(bare.judging_s() / static_cast<double>(bare.launches()));
    ratio.push_back(judging.back() / loop.back());
    of_memory.push_back(judging.back() / memory.back());
  }
  fmt::print("\n{}, {} rounds: median (quartiles)\n", small.case_id, 3 * rounds);
  print("a loop that reads and compares 2 x 16 Mi floats", loop, "ms", 1e3);
  print("loops that read and write as much as judging does", memory, "ms", 1e3);
  print("reference, comparison, guards, inputs: one judged launch", judging, "ms", 1e3);
  print("times the loop", ratio, "x");
  print("times the loops that move as much", of_memory, "x");
}

}  // namespace
}  // namespace assay

int main(int argc, char** argv) try {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.empty() || arguments.size() > 2) {
    fmt::print(stderr, "usage: verification_cost PATH_OF_ASSAY [ROUNDS]\n");
    return 2;
  }
  const int rounds = arguments.size() > 1 ? std::max(1, std::atoi(arguments[1].c_str())) : 5;
  assay::cost_of_product(arguments[0], rounds);
  for (const auto& small : assay::small_tensors) assay::cost_of_judging(small, rounds);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "verification_cost: {}\n", error.what());
  return 4;
}
