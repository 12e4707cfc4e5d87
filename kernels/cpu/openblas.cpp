#include "kernels/cpu/openblas.h"

#include <cblas.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>
#include <string_view>

namespace assay::cpu {

namespace {

/// Sets OpenBLAS's thread count and restores OpenMP's. Unless built with OpenMP, OpenBLAS has its
/// own threads. If built with it, it sets OpenMP's count too, for every later launch of the
/// process.
void use_threads(int threads) {
  const int threads_of_openmp = omp_get_max_threads();
  openblas_set_num_threads(threads);
  omp_set_num_threads(threads_of_openmp);
}

void multiply(const Dgemm& p, const double* a, const double* b, double* y) {
  const auto rows = static_cast<blasint>(p.m);
  const auto cols = static_cast<blasint>(p.n);
  const auto inner = static_cast<blasint>(p.k);
  const auto order = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  cblas_dgemm(CblasRowMajor, order(p.a_transposed), order(p.b_transposed), rows, cols, inner, 1, a,
              p.a_transposed ? rows : inner, b, p.b_transposed ? inner : cols, p.add ? 1 : 0, y,
              cols);
}

}  // namespace

void Dgemm::run(const double* a, const double* b, double* y) const {
  use_threads(omp_get_max_threads());
  multiply(*this, a, b, y);
}

void Dgemm::run_all(std::int64_t matrices, const double* a, const double* b, double* y) const {
  // Products run side by side if that keeps all threads busy: one fork in total instead of one for
  // each. Below this many products even one fork costs more than it saves.
  constexpr std::int64_t worth_a_fork = 100'000;
  const bool side_by_side = matrices >= omp_get_max_threads();
  use_threads(side_by_side ? 1 : omp_get_max_threads());
#pragma omp parallel for schedule(static) if (side_by_side && matrices * m * n * k > worth_a_fork)
  for (std::int64_t i = 0; i < matrices; ++i) {
    multiply(*this, a + i * m * k, b + i * k * n, y + i * m * n);
  }
}

std::string better_openblas_core() {
#if defined(__x86_64__)
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return {};
#ifdef ASSAY_CPU_ISA_AVX2
  return "Haswell";
#endif
  // Cores with kernels for at least FMA and AVX2.
  constexpr std::array<std::string_view, 6> modern{
      "Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids", "Excavator"};
  if (std::ranges::find(modern, openblas_get_corename()) != modern.end()) return {};
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    return "SkylakeX";
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "Haswell";
#endif
  return {};
}

std::string dgemm_implementation() {
  std::istringstream config(openblas_get_config());
  std::string library;
  std::string version;
  config >> library >> version;
  std::string text = library + " " + version + " dgemm " + openblas_get_corename();
  // The library is chosen when the program starts. OpenMP does not bind OpenBLAS's own threads.
  if (openblas_get_parallel() == OPENBLAS_THREAD) text += ", threads of its own";
  if (openblas_get_parallel() == OPENBLAS_SEQUENTIAL) text += ", one thread";
  return text;
}

}  // namespace assay::cpu
