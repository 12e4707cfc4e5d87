#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/choice_file.h"
#include "kernels/cuda/exact_operands.h"
#include "kernels/cuda/kernels.h"
#include "kernels/cuda/matmul_choice.h"
#include "kernels/cuda/matmul_plan.h"

namespace assay::cuda {

/// A cuBLASLt product with the fastest algorithm that its heuristics propose and that is right on
/// exact data. Tries the algorithms once for each plan and GPU of the process, within the budget:
/// times decide, and a layer that is prepared again must not add in another order. Takes the choice
/// of the file of choices, where there is one, if it is right too. Does not ask for algorithms that
/// add partial sums in the output's type.
class LtMatmul {
 public:
  /// Tries the candidates on its own data, and times them on those of `fill_real`; of the operands
  /// only d is overwritten. Products that run one after the other may share `workspace`. Throws
  /// DeviceError, `unsupported` if the library has no algorithm for the plan.
  LtMatmul(const MatmulPlan& plan, const Operands& operands, CudaStream& stream,
           std::shared_ptr<Workspace> workspace, const FillOperands& fill_real,
           SearchBudget& budget);
  ~LtMatmul();
  LtMatmul(const LtMatmul&) = delete;
  LtMatmul& operator=(const LtMatmul&) = delete;

  void run(const Operands& operands, cudaStream_t stream) const;
  static std::shared_ptr<Workspace> new_workspace();
  /// "cuBLASLt 13.0.2 algorithm 66, tile 20, stages 35, split-K 1": algorithm_text().
  std::string implementation() const;
  /// Returns true if the algorithm was right on exact data: false if none was.
  bool is_right() const { return chosen_.is_right; }
  /// Candidates that were refused or wrong, with the reasons; may be empty.
  const std::string& left_out() const { return chosen_.left_out; }
  /// Candidates that were wrong on exact data.
  const std::vector<std::string>& wrong() const { return chosen_.wrong; }

 private:
  class LtCandidates;
  struct Handles;
  struct Chosen {
    cublasLtMatmulAlgo_t algorithm{};
    bool is_right = false;
    std::string left_out;
    std::vector<std::string> wrong;
  };

  Chosen choose_for(const Operands& operands, CudaStream& stream, const FillOperands& fill_real,
                    SearchBudget& budget, std::uintptr_t bias_offset) const;
  Chosen choose_anew(const Operands& operands, CudaStream& stream, const FillOperands& fill_real,
                     SearchBudget& budget) const;
  Chosen recalled(const StoredChoice& stored, const Operands& operands, CudaStream& stream) const;
  void set_pointers(const Operands& operands) const;
  cublasStatus_t enqueue(const Operands& operands, const cublasLtMatmulAlgo_t& algorithm,
                         cudaStream_t stream) const;
  std::vector<cublasLtMatmulHeuristicResult_t> proposed() const;
  cublasLtMatmulHeuristicResult_t restored(const std::string& digits) const;
  std::string text_of(const cublasLtMatmulAlgo_t& algorithm) const;

  std::unique_ptr<Handles> handles_;
  MatmulPlan plan_;
  Chosen chosen_;
  std::shared_ptr<Workspace> workspace_;
};

}  // namespace assay::cuda
