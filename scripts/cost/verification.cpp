// Measures the cost of judging beside the work that is judged. The measurements are paired and
// interleaved, for shared and noisy machines.
// Usage: verification_cost PATH_OF_ASSAY [ROUNDS]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
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
constexpr const char* small_tensors[] = {"tensor_ops/relu/f32/n=16777216",
                                         "tensor_ops/sum/f32/n=16777216"};

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

/// Seconds of a loop on all threads that reads and compares two arrays of floats.
double compare_loop_s(const std::vector<float>& a, const std::vector<float>& b) {
  const double begin_s = steady_s();
  std::atomic<std::int64_t> differ = 0;
  parallel_runs(std::ssize(a), 1 << 16, [&](std::int64_t first, std::int64_t count) {
    std::int64_t found = 0;
    for (std::int64_t i = first; i < first + count; ++i) {
      found += a[static_cast<std::size_t>(i)] == b[static_cast<std::size_t>(i)] ? 0 : 1;
    }
    differ += found;
  });
  const double taken_s = steady_s() - begin_s;
  if (differ != 0) throw std::runtime_error("arrays that are alike differ");
  return taken_s;
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

void cost_of_judging(const char* case_id, int rounds) {
  constexpr std::size_t n = 1 << 24;
  const std::vector<float> a(n, 1.5F), b(n, 1.5F);
  Bare bare(case_id);
  std::vector<double> loop, judging, ratio;
  for (int round = 0; round < 3 * rounds; ++round) {
    loop.push_back(compare_loop_s(a, b));
    judging.push_back(bare.judging_s() / static_cast<double>(bare.launches()));
    ratio.push_back(judging.back() / loop.back());
  }
  fmt::print("\n{}, {} rounds: median (quartiles)\n", case_id, 3 * rounds);
  print("a loop that reads and compares 2 x 16 Mi floats", loop, "ms", 1e3);
  print("reference, comparison, guards, inputs: one judged launch", judging, "ms", 1e3);
  print("times the loop", ratio, "x");
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
  for (const char* case_id : assay::small_tensors) assay::cost_of_judging(case_id, rounds);
  return 0;
} catch (const std::exception& error) {
  fmt::print(stderr, "verification_cost: {}\n", error.what());
  return 4;
}
