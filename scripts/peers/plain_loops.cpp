// Times the loops and library calls that one would write without a harness, to check the times that
// a harness reports. plain_loops [--seconds S] CASE_ID prints
// {"case":...,"median_s":...,"samples":...,"check":...}; --list prints the cases. One process runs
// one case. Contains no code of Assay; agreement compiles and runs it.
//
// Arrays lie as in a harness with guard bands: at multiples of 64 bytes, with a band before and
// behind each, on normal pages of a heap that keeps its memory. The distance of two arrays modulo a
// page changes loops by some percent, which says nothing about how times are taken.
#include <malloc.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dnnl.hpp>
#include <functional>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

/// Memory for n elements in rows of `row` elements, between two guard bands.
template <class T>
class Array {
 public:
  Array(std::int64_t n, std::int64_t row) : n_(n) {
    constexpr std::int64_t page = 4096;
    const std::int64_t row_bytes = row * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t band =
        std::clamp((row_bytes + page - 1) / page * page, page, std::int64_t{1} << 20);
    const auto bytes = static_cast<std::size_t>(2 * band) + static_cast<std::size_t>(n) * sizeof(T);
    memory_ = static_cast<std::byte*>(::operator new (bytes, std::align_val_t{64}));
    std::memset(memory_, 0x5a, bytes);
    data_ = reinterpret_cast<T*>(memory_ + band);
  }
  explicit Array(std::int64_t n) : Array(n, n) {}
  ~Array() { ::operator delete (memory_, std::align_val_t{64}); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  T* data() const { return data_; }
  std::int64_t size() const { return n_; }

 private:
  std::int64_t n_;
  std::byte* memory_;
  T* data_;
};

using Floats = std::shared_ptr<Array<float>>;

Floats floats(std::int64_t n, std::int64_t row) { return std::make_shared<Array<float>>(n, row); }
Floats floats(std::int64_t n) { return floats(n, n); }

/// Fills with uniform numbers in [-1, 1), new ones at each call: zeros are faster on some chips.
Floats drawn(Floats to) {
  static std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (std::int64_t i = 0; i < to->size(); ++i) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    to->data()[i] = static_cast<float>(static_cast<std::int64_t>(state >> 11U)) * 0x1p-52F - 1.0F;
  }
  return to;
}

struct Work {
  std::function<void()> launch;
  std::function<bool()> is_right;
};

bool close(double got, double expected, double scale) {
  return std::abs(got - expected) <= 1e-4 * scale;
}

// --- Memory --------------------------------------------------------------------------------------

Work copy(std::int64_t bytes, bool all_threads) {
  auto from = std::make_shared<Array<std::byte>>(bytes);
  auto to = std::make_shared<Array<std::byte>>(bytes);
  for (std::int64_t i = 0; i < bytes; ++i)
    from->data()[i] = static_cast<std::byte>(i * 2654435761U >> 16U);
  const auto one = [=] { std::memcpy(to->data(), from->data(), static_cast<std::size_t>(bytes)); };
  const auto all = [=] {
#pragma omp parallel
    {
      const std::int64_t share = (bytes / omp_get_num_threads() + 63) / 64 * 64;
      const std::int64_t first = std::min(bytes, omp_get_thread_num() * share);
      const bool last = omp_get_thread_num() + 1 == omp_get_num_threads();
      const std::int64_t count = last ? bytes - first : std::min(share, bytes - first);
      std::memcpy(to->data() + first, from->data() + first, static_cast<std::size_t>(count));
    }
  };
  const auto is_right = [=] {
    return std::memcmp(to->data(), from->data(), static_cast<std::size_t>(bytes)) == 0;
  };
  if (all_threads) return {all, is_right};
  return {one, is_right};
}

Work fill(std::int64_t n) {
  const Floats y = floats(n);
  return {[=, to = y->data()] {
#pragma omp parallel for simd schedule(static)
            for (std::int64_t i = 0; i < n; ++i) to[i] = 0.3F;
          },
          [=] { return y->data()[0] == 0.3F && y->data()[n - 1] == 0.3F; }};
}

Work relu(std::int64_t n) {
  const Floats x = drawn(floats(n));
  const Floats y = floats(n);
  return {[=, from = x->data(), to = y->data()] {
#pragma omp parallel for simd schedule(static)
            for (std::int64_t i = 0; i < n; ++i) to[i] = from[i] < 0 ? 0 : from[i];
          },
          [=] { return y->data()[n - 1] == std::max(0.0F, x->data()[n - 1]); }};
}

Work add(std::int64_t n) {
  const Floats a = drawn(floats(n));
  const Floats b = drawn(floats(n));
  const Floats y = floats(n);
  return {[=, p = a->data(), q = b->data(), to = y->data()] {
#pragma omp parallel for simd schedule(static)
            for (std::int64_t i = 0; i < n; ++i) to[i] = p[i] + q[i];
          },
          [=] { return y->data()[n - 1] == a->data()[n - 1] + b->data()[n - 1]; }};
}

/// Sums each thread's share of [0, n) in a function of its own: GCC 12 leaves a reduction over both
/// threads and lanes scalar.
template <class Range>
float total_of(std::int64_t n, const Range& range) {
  float total = 0;
#pragma omp parallel reduction(+ : total)
  {
    const std::int64_t threads = omp_get_num_threads();
    const std::int64_t first = n * omp_get_thread_num() / threads;
    total += range(first, n * (omp_get_thread_num() + 1) / threads - first);
  }
  return total;
}

float sum_of(const float* x, std::int64_t n) {
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) total += x[i];
  return total;
}

float dot_of(const float* a, const float* b, std::int64_t n) {
  float total = 0;
#pragma omp simd reduction(+ : total)
  for (std::int64_t i = 0; i < n; ++i) total += a[i] * b[i];
  return total;
}

Work sum(std::int64_t n) {
  const Floats x = drawn(floats(n));
  const auto result = std::make_shared<float>();
  return {[=, from = x->data()] {
            *result =
                total_of(n, [=](auto first, auto count) { return sum_of(from + first, count); });
          },
          [=] {
            double total = 0;
            for (std::int64_t i = 0; i < n; ++i) total += x->data()[i];
            return close(*result, total, std::sqrt(static_cast<double>(n)));
          }};
}

Work dot(std::int64_t n) {
  const Floats a = drawn(floats(n));
  const Floats b = drawn(floats(n));
  const auto result = std::make_shared<float>();
  return {[=, p = a->data(), q = b->data()] {
            *result = total_of(
                n, [=](auto first, auto count) { return dot_of(p + first, q + first, count); });
          },
          [=] {
            double total = 0;
            for (std::int64_t i = 0; i < n; ++i)
              total += static_cast<double>(a->data()[i]) * b->data()[i];
            return close(*result, total, std::sqrt(static_cast<double>(n)));
          }};
}

// --- Products ------------------------------------------------------------------------------------

using dnnl::memory;

struct Product {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  dnnl::matmul primitive;
  std::unordered_map<int, memory> arguments;

  Product(const memory::desc& x, const memory::desc& w, const memory::desc* bias,
          const memory::desc& y) {
#if DNNL_VERSION_MAJOR >= 3
    primitive = dnnl::matmul(bias != nullptr ? dnnl::matmul::primitive_desc(engine, x, w, *bias, y)
                                             : dnnl::matmul::primitive_desc(engine, x, w, y));
#else
    const auto what =
        bias != nullptr ? dnnl::matmul::desc(x, w, *bias, y) : dnnl::matmul::desc(x, w, y);
    primitive = dnnl::matmul(dnnl::matmul::primitive_desc(what, engine));
#endif
  }
  void set(int argument, const memory::desc& desc, float* data) {
    arguments.emplace(argument, memory(desc, engine, data));
  }
  void launch() {
    primitive.execute(stream, arguments);
    stream.wait();
  }
};

constexpr auto f32 = memory::data_type::f32;

/// y = x w^T + bias, weights stored as [out][in].
Work linear(std::int64_t batch, std::int64_t in, std::int64_t out, bool has_bias) {
  const Floats x = drawn(floats(batch * in, in));
  const Floats w = drawn(floats(out * in, in));
  const Floats bias = has_bias ? drawn(floats(out)) : nullptr;
  const Floats y = floats(batch * out, out);
  const memory::desc x_desc({batch, in}, f32, memory::format_tag::ab);
  const memory::desc w_desc({in, out}, f32, memory::format_tag::ba);
  const memory::desc bias_desc({1, out}, f32, memory::format_tag::ab);
  const memory::desc y_desc({batch, out}, f32, memory::format_tag::ab);
  auto product = std::make_shared<Product>(x_desc, w_desc, has_bias ? &bias_desc : nullptr, y_desc);
  product->set(DNNL_ARG_SRC, x_desc, x->data());
  product->set(DNNL_ARG_WEIGHTS, w_desc, w->data());
  if (has_bias) product->set(DNNL_ARG_BIAS, bias_desc, bias->data());
  product->set(DNNL_ARG_DST, y_desc, y->data());
  return {[=] { product->launch(); },
          [=] {
            const std::int64_t row = batch - 1;
            const std::int64_t column = out - 1;
            double total = has_bias ? bias->data()[column] : 0;
            for (std::int64_t i = 0; i < in; ++i) {
              total += static_cast<double>(x->data()[row * in + i]) * w->data()[column * in + i];
            }
            return close(y->data()[row * out + column], total, std::sqrt(static_cast<double>(in)));
          }};
}

Work products(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  const Floats a = drawn(floats(batch * m * k, k));
  const Floats b = drawn(floats(batch * k * n, n));
  const Floats y = floats(batch * m * n, n);
  const memory::desc a_desc({batch, m, k}, f32, memory::format_tag::abc);
  const memory::desc b_desc({batch, k, n}, f32, memory::format_tag::abc);
  const memory::desc y_desc({batch, m, n}, f32, memory::format_tag::abc);
  auto product = std::make_shared<Product>(a_desc, b_desc, nullptr, y_desc);
  product->set(DNNL_ARG_SRC, a_desc, a->data());
  product->set(DNNL_ARG_WEIGHTS, b_desc, b->data());
  product->set(DNNL_ARG_DST, y_desc, y->data());
  return {[=] { product->launch(); },
          [=] {
            double total = 0;
            const float* row = a->data() + (batch * m - 1) * k;
            const float* matrix = b->data() + (batch - 1) * k * n;
            for (std::int64_t i = 0; i < k; ++i)
              total += static_cast<double>(row[i]) * matrix[i * n + n - 1];
            return close(y->data()[batch * m * n - 1], total, std::sqrt(static_cast<double>(k)));
          }};
}

// --- Timing --------------------------------------------------------------------------------------

struct Figures {
  double median_s;
  double noise;
  std::size_t samples;
};

double sample_s(const Work& work, int launches) {
  const double begin = now_s();
  for (int i = 0; i < launches; ++i) work.launch();
  return (now_s() - begin) / launches;
}

/// Warms up for a quarter of the time. Samples last at least 0.3 ms.
Figures measured(const Work& work, double seconds) {
  const double begin = now_s();
  work.launch();
  double launch_s = sample_s(work, 1);
  while (now_s() - begin < seconds / 4) launch_s = std::min(launch_s, sample_s(work, 1));
  const int launches = std::max(1, static_cast<int>(std::ceil(0.3e-3 / launch_s)));
  std::vector<double> samples;
  while (samples.size() < 3 || now_s() - begin < seconds)
    samples.push_back(sample_s(work, launches));
  std::ranges::sort(samples);
  const auto at = [&](double share) {
    return samples[static_cast<std::size_t>(share * static_cast<double>(samples.size() - 1))];
  };
  const double median = (samples[(samples.size() - 1) / 2] + samples[samples.size() / 2]) / 2;
  return {median, (at(0.75) - at(0.25)) / median, samples.size()};
}

constexpr std::int64_t n = 1 << 24;

const std::map<std::string, std::function<Work()>>& cases() {
  static const std::map<std::string, std::function<Work()>> all{
      {"transfers/memcpy/u8/from=host,to=host,bytes=67108864,threads=one",
       [] { return copy(67108864, false); }},
      {"transfers/memcpy/u8/from=host,to=host,bytes=268435456,threads=all",
       [] { return copy(268435456, true); }},
      {"tensor_ops/fill/f32/n=16777216", [] { return fill(n); }},
      {"tensor_ops/relu/f32/n=16777216", [] { return relu(n); }},
      {"tensor_ops/add/f32/n=16777216", [] { return add(n); }},
      {"tensor_ops/add/f32/n=1048576", [] { return add(1048576); }},
      {"tensor_ops/sum/f32/n=16777216", [] { return sum(n); }},
      {"tensor_ops/dot/f32/n=16777216", [] { return dot(n); }},
      {"tensor_ops/batched_matmul/f32/batch=96,m=128,n=128,k=64",
       [] { return products(96, 128, 128, 64); }},
      {"linear/f32/batch=1,in=4096,out=11008,bias=1,act=none",
       [] { return linear(1, 4096, 11008, true); }},
      {"linear/f32/batch=64,in=1024,out=1024,bias=1,act=none",
       [] { return linear(64, 1024, 1024, true); }},
      {"linear/f32/batch=512,in=768,out=3072,bias=1,act=none",
       [] { return linear(512, 768, 3072, true); }},
      {"linear/f32/batch=256,in=4096,out=4096,bias=1,act=none",
       [] { return linear(256, 4096, 4096, true); }},
      {"linear/f32/batch=4096,in=1024,out=1024,bias=0,act=none",
       [] { return linear(4096, 1024, 1024, false); }}};
  return all;
}

}  // namespace

int main(int argc, char** argv) try {
  // Keeps freed memory, as a process does that uses tensors of the same sizes repeatedly.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  double seconds = 1;
  std::string id;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--list") {
      for (const auto& [name, make] : cases()) std::puts(name.c_str());
      return 0;
    }
    if (argument == "--seconds" && i + 1 < argc) {
      seconds = std::stod(argv[++i]);
    } else {
      id = argument;
    }
  }
  const auto found = cases().find(id);
  if (found == cases().end()) {
    std::fprintf(stderr, "plain_loops: no case '%s'; --list has them\n", id.c_str());
    return 2;
  }
  const Work work = found->second();
  const Figures figures = measured(work, seconds);
  const bool right = work.is_right();
  std::printf(R"({"case":"%s","median_s":%.9g,"noise":%.4g,"samples":%zu,"right":%s})"
              "\n",
              id.c_str(), figures.median_s, figures.noise, figures.samples,
              right ? "true" : "false");
  return right ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "plain_loops: %s\n", error.what());
  return 4;
}
