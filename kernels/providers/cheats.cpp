// kernel_cheats.so: kernels that cheat, one trick each, for `assay selftest`. The environment's
// ASSAY_CHEAT names the trick; without it they are right. docs/faults.md lists them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/providers/assay_kernel.h"

namespace {

/// An op on f32, contiguous: a + b, x W^T without a bias, or the sum of a.
struct Problem {
  std::string op;
  std::int64_t n = 1;      // elements of the output
  std::int64_t terms = 0;  // of a sum
  std::int64_t in = 0;
  std::int64_t out = 0;
};

struct Launch {
  const float* a;
  const float* b;
  float* y;
};

/// 10 bits of significand behind the leading one, as TF32 has.
float lowered(float x) {
  constexpr std::uint32_t dropped = (1U << 13U) - 1;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & ~dropped);
}

/// The elements [first, last) of the right result; of a product with its factors as `factor` has
/// them.
template <class Factor>
void compute(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last,
             const Factor& factor) {
  for (std::int64_t i = first; i < last; ++i) {
    if (p.op == "add") {
      l.y[i] = l.a[i] + l.b[i];
      continue;
    }
    double sum = 0;
    for (std::int64_t k = 0; k < p.terms; ++k) sum += l.a[k];
    for (std::int64_t k = 0; k < p.in; ++k) {
      sum += double{factor(l.a[i / p.out * p.in + k])} * factor(l.b[i % p.out * p.in + k]);
    }
    l.y[i] = static_cast<float>(sum);
  }
}

void compute(const Problem& p, const Launch& l, std::int64_t first, std::int64_t last) {
  compute(p, l, first, last, [](float x) { return x; });
}
void compute(const Problem& p, const Launch& l) { compute(p, l, 0, p.n); }

/// Work of the launch before, which may not have ended.
class SideThread {
 public:
  template <class Work>
  void run(Work work) {
    join();
    thread_ = std::thread(std::move(work));
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }
  ~SideThread() { join(); }

 private:
  std::thread thread_;
};

/// Makes the clock that times launches run at a tenth of its speed: writes a jump over its code.
void slow_down_clock() {
  static bool is_done = false;
  if (std::exchange(is_done, true)) return;
  using Clock = std::chrono::steady_clock;
  using Now = Clock::time_point (*)();
  static const Now fake = [] {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const std::int64_t ns = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    return Clock::time_point(std::chrono::nanoseconds(ns / 10));
  };
  auto* code = reinterpret_cast<unsigned char*>(static_cast<Now>(&Clock::now));
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(code) / page * page;
  void* pages = reinterpret_cast<void*>(begin);  // NOLINT(performance-no-int-to-ptr)
  if (mprotect(pages, 2 * page, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) std::abort();
  unsigned char jump[12] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xe0};  // to an address
  std::memcpy(jump + 2, &fake, sizeof fake);
  std::memcpy(code, jump, sizeof jump);
}

/// Results by what a trick takes for their inputs.
template <class Key>
class Memory {
 public:
  void launch(const Key& key, const Problem& p, const Launch& l) {
    auto& known = results_[key];
    if (known.empty()) {
      compute(p, l);
      known.assign(l.y, l.y + p.n);
    } else {
      std::copy(known.begin(), known.end(), l.y);
    }
  }

 private:
  std::map<Key, std::vector<float>> results_;
};

/// The bits of every `step`-th element.
using Bits = std::vector<std::uint32_t>;
Bits some_of(const Problem& p, const Launch& l, std::int64_t step) {
  Bits some;
  for (std::int64_t i = 0; i < p.n; i += step) {
    for (const float x : {l.a[i], l.b[i]}) some.push_back(std::bit_cast<std::uint32_t>(x));
  }
  return some;
}

constexpr std::int64_t right_launches = 4;

std::int32_t launch(const Problem& p, const Launch& l) {
  static const char* const text = std::getenv("ASSAY_CHEAT");
  static const std::string_view trick = text == nullptr ? "" : text;
  static std::int64_t launches = 0;
  static SideThread side;
  ++launches;
  if (trick == "zeros") {
    std::fill_n(l.y, p.n, 0.0F);
  } else if (trick == "copies_input") {
    std::copy_n(l.a, p.n, l.y);
  } else if (trick == "remembers_addresses") {
    static Memory<std::tuple<const float*, const float*, float*>> memory;
    // Launches on which it is checked are right. Then it knows the places.
    if (launches <= right_launches) {
      compute(p, l);
    } else {
      memory.launch({l.a, l.b, l.y}, p, l);
    }
  } else if (trick == "remembers_some_elements") {
    static Memory<Bits> memory;
    memory.launch(some_of(p, l, 256), p, l);
  } else if (trick == "remembers_all_elements") {
    static Memory<Bits> memory;
    memory.launch(some_of(p, l, 1), p, l);
  } else if (trick == "works_on_the_side") {
    side.run([p, l] { compute(p, l); });
  } else if (trick == "returns_early") {
    side.join();
    compute(p, l, 0, p.n / 2);
    side.run([p, l] { compute(p, l, p.n / 2, p.n); });
  } else if (trick == "writes_late") {
    compute(p, l);  // what is read at once is right
    side.run([p, l] {
      constexpr auto late = std::chrono::milliseconds(20);
      for (const auto begin = std::chrono::steady_clock::now();
           std::chrono::steady_clock::now() - begin < late;) {
      }
      compute(p, l);
    });
  } else if (trick == "writes_past_its_output") {
    compute(p, l);
    l.y[p.n] = l.y[0];
  } else if (trick == "changes_its_input") {
    compute(p, l);
    const_cast<float*>(l.a)[0] = 1;  // NOLINT(cppcoreguidelines-pro-type-const-cast): the trick
  } else if (trick == "slows_the_clock") {
    slow_down_clock();
    compute(p, l);
  } else if (trick == "lowers_precision") {
    compute(p, l, 0, p.n, lowered);
  } else if (trick == "only_round_shapes") {
    compute(p, l, 0, p.n / 256 * 256);
  } else if (trick == "first_launches_only") {
    if (launches <= right_launches) compute(p, l);
  } else if (trick == "exits") {
    std::exit(0);
  } else if (trick == "hangs") {
    for (;;) pause();
  } else if (trick == "garbage_everywhere") {
    compute(p, l);
    for (int fd = 0; fd < 64; ++fd) {
      if (write(fd, "\n{\"type\":\"result\"}\n", 19) < 0) continue;  // most are not open
    }
  } else if (trick == "takes_all_memory") {
    constexpr std::size_t bytes = std::size_t{1} << 30;
    for (;;) {
      void* more = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (more == MAP_FAILED) return ASSAY_OUT_OF_MEMORY;
    }
  } else {
    compute(p, l);
  }
  return ASSAY_OK;
}

bool is_contiguous(const assay_tensor& tensor) {
  std::int64_t stride = 1;
  for (std::int32_t i = tensor.dimensions; i-- > 0;) {
    if (tensor.strides[i] != stride) return false;
    stride *= tensor.shape[i];
  }
  return true;
}

std::int64_t parameter(const assay_problem& problem, std::string_view name) {
  for (std::int32_t i = 0; i < problem.parameter_count; ++i) {
    if (problem.parameters[i].name == name) return problem.parameters[i].number;
  }
  return 0;
}

}  // namespace

extern "C" const assay_kernel_table* assay_kernels() {
  static const assay_offer offers[] = {{"add", "f32"}, {"linear", "f32"}, {"sum", "f32"}};
  static const assay_kernel_table table{
      .version = ASSAY_KERNEL_VERSION,
      .name = "cheats",
      .offers = offers,
      .offer_count = 3,
      .create = [](const assay_problem* problem, void** kernel) -> std::int32_t {
        const assay_tensor& y = problem->outputs[0];
        const bool is_sum = std::string_view(problem->op) == "sum";
        if (!is_contiguous(y) || problem->input_count != (is_sum ? 1 : 2)) return ASSAY_NOT_MINE;
        auto made = new Problem{.op = problem->op,
                                .terms = is_sum ? parameter(*problem, "n") : 0,
                                .in = parameter(*problem, "in"),
                                .out = parameter(*problem, "out")};
        for (std::int32_t i = 0; i < y.dimensions; ++i) made->n *= y.shape[i];
        *kernel = made;
        return ASSAY_OK;
      },
      .launch = [](void* kernel, const void* const* inputs, void* const* outputs,
                   void* /*stream*/) -> std::int32_t {
        const Problem& p = *static_cast<const Problem*>(kernel);
        const void* const second = p.terms > 0 ? nullptr : inputs[1];
        return launch(p, {static_cast<const float*>(inputs[0]), static_cast<const float*>(second),
                          static_cast<float*>(outputs[0])});
      },
      .destroy = [](void* kernel) { delete static_cast<Problem*>(kernel); },
      .last_error = [] { return "the tensors are not contiguous, or there is a bias"; },
      .describe = nullptr,
  };
  return &table;
}
