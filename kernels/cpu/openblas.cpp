#include "kernels/cpu/openblas.h"

#include <cblas.h>
#include <omp.h>

#include <sstream>

namespace assay::cpu {

void Dgemm::run(const double* a, const double* b, double* y) const {
  // Its threads are its own unless it was built with OpenMP; either way they are as many.
  openblas_set_num_threads(omp_get_max_threads());
  const auto rows = static_cast<blasint>(m);
  const auto cols = static_cast<blasint>(n);
  const auto inner = static_cast<blasint>(k);
  cblas_dgemm(CblasRowMajor, CblasNoTrans, b_transposed ? CblasTrans : CblasNoTrans, rows, cols,
              inner, 1, a, inner, b, b_transposed ? inner : cols, add ? 1 : 0, y, cols);
}

std::string dgemm_implementation() {
  std::istringstream config(openblas_get_config());
  std::string library;
  std::string version;
  config >> library >> version;
  return library + " " + version + " dgemm " + openblas_get_corename();
}

}  // namespace assay::cpu
