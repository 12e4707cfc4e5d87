#include "kernels/cuda/lt_matmul.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "kernels/cuda/cublas_lt.h"
#include "kernels/cuda/describe.h"
#include "kernels/cuda/kept_choice.h"

namespace assay::cuda {
namespace {

/// NVIDIA's recommendation for Hopper; older GPUs need less.
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;
constexpr int max_candidates = 8;
constexpr int launches_a_time = 3;
constexpr int timed_repeats = 5;

/// alpha and beta, in the plan's scale type.
struct Factor {
  explicit Factor(cudaDataType_t type, int value) {
    if (type == CUDA_R_64F) {
      f64 = value;
    } else if (type == CUDA_R_32I) {
      i32 = value;
    } else {
      f32 = static_cast<float>(value);
    }
  }
  union {
    double f64;
    float f32;
    std::int32_t i32;
  };
};

template <class T>
void set(const CublasLt& lt, cublasLtMatmulDesc_t product, cublasLtMatmulDescAttributes_t what,
         const T& value) {
  check(lt.set_product(product, what, &value, sizeof value), "cublasLtMatmulDescSetAttribute");
}

cublasLtMatrixLayout_t layout_of(const CublasLt& lt, cudaDataType_t type, std::int64_t rows,
                                 std::int64_t cols, std::int64_t leading, std::int64_t batch,
                                 std::int64_t stride) {
  cublasLtMatrixLayout_t layout = nullptr;
  check(lt.create_layout(&layout, type, static_cast<std::uint64_t>(rows),
                         static_cast<std::uint64_t>(cols), leading),
        "cublasLtMatrixLayoutCreate");
  const auto count = static_cast<std::int32_t>(batch);
  check(lt.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
        "cublasLtMatrixLayoutSetAttribute");
  check(lt.set_layout(layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
        "cublasLtMatrixLayoutSetAttribute");
  return layout;
}

bool has_bias(cublasLtEpilogue_t epilogue) { return (epilogue & CUBLASLT_EPILOGUE_BIAS) != 0; }

}  // namespace

struct LtMatmul::Handles {
  Handles() = default;
  // Delegates, so that an error destroys what was created before it.
  explicit Handles(const MatmulPlan& plan) : Handles() {
    if (!lt.problem().empty()) throw DeviceError(Failure::unsupported, lt.problem());
    library = lt.handle();
    check(lt.create_product(&product, plan.compute, plan.scale), "cublasLtMatmulDescCreate");
    set(lt, product, CUBLASLT_MATMUL_DESC_TRANSA, plan.a_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(lt, product, CUBLASLT_MATMUL_DESC_TRANSB, plan.b_transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(lt, product, CUBLASLT_MATMUL_DESC_EPILOGUE, plan.epilogue);
    // Sums of 8-bit floats are promoted to f32 along the way. The default scale is 1.
    if (plan.factors == CUDA_R_8F_E4M3) {
      set(lt, product, CUBLASLT_MATMUL_DESC_FAST_ACCUM, plan.fast_accumulation);
    }
    if (has_bias(plan.epilogue)) {
      set(lt, product, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, plan.result);
    }
    if (plan.blocks != nullptr) {
      const std::int32_t mode = plan.blocks->has_e4m3_scales
                                    ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3
                                    : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
      set(lt, product, CUBLASLT_MATMUL_DESC_A_SCALE_MODE, mode);
      set(lt, product, CUBLASLT_MATMUL_DESC_B_SCALE_MODE, mode);
    }
    const auto factor = [&](bool transposed, std::int64_t rows, std::int64_t cols,
                            std::int64_t leading, std::int64_t stride) {
      return layout_of(lt, plan.factors, transposed ? cols : rows, transposed ? rows : cols,
                       leading, plan.batch, stride);
    };
    a = factor(plan.a_transposed, plan.m, plan.k, plan.a_leading, plan.a_stride);
    b = factor(plan.b_transposed, plan.k, plan.n, plan.b_leading, plan.b_stride);
    d = layout_of(lt, plan.result, plan.m, plan.n, plan.d_leading, plan.batch, plan.d_stride);
  }
  ~Handles() {
    if (d != nullptr) lt.destroy_layout(d);
    if (b != nullptr) lt.destroy_layout(b);
    if (a != nullptr) lt.destroy_layout(a);
    if (product != nullptr) lt.destroy_product(product);
  }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  const CublasLt& lt = CublasLt::instance();
  cublasLtHandle_t library = nullptr;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t a = nullptr, b = nullptr, d = nullptr;
};

/// Algorithms for a product, as the library proposes them.
class LtMatmul::LtCandidates final : public Candidates {
 public:
  LtCandidates(const LtMatmul& product, std::vector<cublasLtMatmulHeuristicResult_t> proposed,
               ExactOperands& data, const FillOperands& fill_real, CudaStream& stream)
      : product_(product),
        data_(data),
        fill_real_(fill_real),
        stream_(stream),
        proposed_(std::move(proposed)),
        begin_(stream.create_event()),
        end_(stream.create_event()) {}

  const cublasLtMatmulAlgo_t& algorithm(int i) const { return at(i).algo; }

  int count() const override { return static_cast<int>(proposed_.size()); }
  std::string name(int i) const override { return product_.text_of(algorithm(i)); }
  Launch launch(int i) override {
    data_.spoil_result();
    stream_.record(*begin_);
    cublasStatus_t status = at(i).state;
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = product_.enqueue(data_.operands(), algorithm(i), stream_.handle());
    }
    stream_.record(*end_);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {.refusal = "not supported"};
    check(status, "cublasLtMatmul");
    return {.refusal = "", .time_s = stream_.elapsed_s(*begin_, *end_)};
  }
  bool was_right() override { return data_.is_result_right(); }
  bool keeps_nan(int i) override {
    if ((product_.plan_.epilogue & CUBLASLT_EPILOGUE_RELU) == 0) return true;
    data_.put_nan();
    const bool kept = launch(i).refusal.empty() && data_.is_first_column_nan();
    data_.take_nan_back();
    return kept;
  }
  void load_real_data() override { data_.refill(fill_real_); }
  /// Median of several times.
  double time_s(int i) override {
    std::array<double, timed_repeats> times_s{};
    for (double& time_s : times_s) {
      constexpr int tries = 3;
      for (int tried = 0; tried < tries; ++tried) {
        time_s = time_of_few_s(i);
        if (!stream_.take_lapse()) break;  // else it may have waited for the host
      }
    }
    std::nth_element(times_s.begin(), times_s.begin() + timed_repeats / 2, times_s.end());
    return times_s[timed_repeats / 2];
  }
  int timed_launches() const override { return timed_repeats * launches_a_time; }
  double now_s() override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration<double>(now).count();
  }

 private:
  /// Seconds of a launch, of a few without gaps between them.
  double time_of_few_s(int i) {
    stream_.block();
    stream_.record(*begin_);
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
    for (int n = 0; n < launches_a_time && status == CUBLAS_STATUS_SUCCESS; ++n) {
      status = product_.enqueue(data_.operands(), algorithm(i), stream_.handle());
    }
    stream_.record(*end_);
    stream_.unblock();
    check(status, "cublasLtMatmul");
    return stream_.elapsed_s(*begin_, *end_) / launches_a_time;
  }
  const cublasLtMatmulHeuristicResult_t& at(int i) const {
    return proposed_.at(static_cast<std::size_t>(i));
  }

  const LtMatmul& product_;
  ExactOperands& data_;
  const FillOperands& fill_real_;
  CudaStream& stream_;
  std::vector<cublasLtMatmulHeuristicResult_t> proposed_;
  std::unique_ptr<Event> begin_, end_;
};

std::shared_ptr<Workspace> LtMatmul::new_workspace() {
  return std::make_shared<Workspace>(workspace_bytes);
}

LtMatmul::LtMatmul(const MatmulPlan& plan, const Operands& operands, CudaStream& stream,
                   std::shared_ptr<Workspace> workspace, const FillOperands& fill_real,
                   SearchBudget& budget)
    : handles_(std::make_unique<Handles>(plan)), plan_(plan), workspace_(std::move(workspace)) {
  // The library's proposals depend on the alignment of the bias.
  constexpr std::uintptr_t max_alignment = 256;
  const std::uintptr_t bias_offset =
      reinterpret_cast<std::uintptr_t>(operands.bias) % max_alignment;
  using Key = std::tuple<int, MatmulPlan, std::uintptr_t>;
  static std::mutex mutex;
  static std::vector<std::pair<Key, Chosen>> known;
  const std::lock_guard lock(mutex);
  const Key key(stream.ordinal(), plan, bias_offset);
  const auto found = std::ranges::find(known, key, &std::pair<Key, Chosen>::first);
  chosen_ =
      found != known.end()
          ? found->second
          : known.emplace_back(key, choose_for(operands, stream, fill_real, budget, bias_offset))
                .second;
  set_pointers(operands);
}

LtMatmul::~LtMatmul() = default;

/// Takes the choice of the file of choices, or chooses and stores it. Choices of which none is
/// right are not stored: no times decided.
LtMatmul::Chosen LtMatmul::choose_for(const Operands& operands, CudaStream& stream,
                                      const FillOperands& fill_real, SearchBudget& budget,
                                      std::uintptr_t bias_offset) const try {
  set_pointers(operands);
  const ChoiceFile file = ChoiceFile::of_process();
  StoredChoice own{.device = uuid_of(stream.ordinal()),
                   .library = handles_->lt.version_text(),
                   .plan = plan_text(plan_, bias_offset)};
  const std::optional<StoredChoice> stored = file.find(own);
  Chosen refused;
  if (stored) {
    Chosen before = recalled(*stored, operands, stream);
    if (before.is_right) return before;
    refused = std::move(before);
  }
  Chosen chosen = choose_anew(operands, stream, fill_real, budget);
  if (!refused.left_out.empty()) {
    chosen.left_out = refused.left_out + (chosen.left_out.empty() ? "" : ", ") + chosen.left_out;
    chosen.wrong.insert(chosen.wrong.begin(), refused.wrong.begin(), refused.wrong.end());
  }
  if (!chosen.is_right) return chosen;
  own.chosen = digits_of(chosen.algorithm);
  own.name = text_of(chosen.algorithm);
  own.left_out = chosen.left_out;
  own.wrong = chosen.wrong;
  const StoredChoice held = file.keep(own, stored);
  if (held.chosen == own.chosen) return chosen;
  Chosen first = recalled(held, operands, stream);  // of a process that was faster
  return first.is_right ? first : chosen;
} catch (const UsageError& error) {
  throw DeviceError(Failure::internal, error.what());
}

LtMatmul::Chosen LtMatmul::choose_anew(const Operands& operands, CudaStream& stream,
                                       const FillOperands& fill_real, SearchBudget& budget) const {
  ExactOperands data(plan_, operands.d, stream);
  LtCandidates candidates(*this, proposed(), data, fill_real, stream);
  Choice choice = choose(candidates, budget);
  stream.synchronize();  // before the data are released
  if (!choice.taken) {
    throw DeviceError(Failure::unsupported,
                      "cuBLASLt has no algorithm for this product" +
                          (choice.left_out.empty() ? "" : ": left out " + choice.left_out));
  }
  return {candidates.algorithm(*choice.taken), choice.is_right, std::move(choice.left_out),
          std::move(choice.wrong)};
}

/// Tries a stored choice on exact data. If it is right, returns it with all that was left out
/// beside it; otherwise what `left_out` and `wrong` are to say of it.
LtMatmul::Chosen LtMatmul::recalled(const StoredChoice& stored, const Operands& operands,
                                    CudaStream& stream) const {
  ExactOperands data(plan_, operands.d, stream);
  const FillOperands no_times;  // a single candidate is not timed
  LtCandidates candidates(*this, {restored(stored.chosen)}, data, no_times, stream);
  SearchBudget budget;
  const Choice choice = choose(candidates, budget);
  stream.synchronize();  // before the data are released
  if (choice.is_right) return {candidates.algorithm(0), true, stored.left_out, stored.wrong};
  Chosen refused;
  refused.left_out = "a stored choice: " + choice.left_out;
  refused.wrong = choice.wrong;
  return refused;
}

/// Returns a stored algorithm as if the library had proposed it, if it still runs here.
cublasLtMatmulHeuristicResult_t LtMatmul::restored(const std::string& digits) const {
  const Handles& h = *handles_;
  cublasLtMatmulHeuristicResult_t result{};
  result.state = CUBLAS_STATUS_NOT_SUPPORTED;
  const auto algorithm = algorithm_of(digits);
  if (!algorithm) return result;
  result.algo = *algorithm;
  cublasLtMatmulHeuristicResult_t checked{};
  const cublasStatus_t status =
      h.lt.check_algorithm(h.library, h.product, h.a, h.b, h.d, h.d, &result.algo, &checked);
  if (status == CUBLAS_STATUS_SUCCESS && checked.workspaceSize <= workspace_->bytes()) {
    result.state = CUBLAS_STATUS_SUCCESS;
  }
  return result;
}

/// Tells the descriptor of the tensors that are no arguments of a call.
void LtMatmul::set_pointers(const Operands& operands) const {
  const Handles& h = *handles_;
  if (has_bias(plan_.epilogue)) {
    set(h.lt, h.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, operands.bias);
  }
  if (plan_.blocks != nullptr) {
    set(h.lt, h.product, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, operands.a_scales);
    set(h.lt, h.product, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, operands.b_scales);
  }
}

cublasStatus_t LtMatmul::enqueue(const Operands& operands, const cublasLtMatmulAlgo_t& algorithm,
                                 cudaStream_t stream) const {
  const Handles& h = *handles_;
  set_pointers(operands);
  const Factor one(plan_.scale, 1);
  const Factor zero(plan_.scale, 0);
  return h.lt.matmul(h.library, h.product, &one, operands.a, h.a, operands.b, h.b, &zero,
                     operands.d, h.d, operands.d, h.d, &algorithm, workspace_->data(),
                     workspace_->bytes(), stream);
}

void LtMatmul::run(const Operands& operands, cudaStream_t stream) const {
  check(enqueue(operands, chosen_.algorithm, stream), "cublasLtMatmul");
}

/// Lists the algorithms in the library's order; empty if there are none.
std::vector<cublasLtMatmulHeuristicResult_t> LtMatmul::proposed() const {
  const Handles& h = *handles_;
  cublasLtMatmulPreference_t preference = nullptr;
  check(h.lt.create_preference(&preference), "cublasLtMatmulPreferenceCreate");
  const std::uint64_t max_bytes = workspace_->bytes();
  const std::uint32_t in_compute_type = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  std::vector<cublasLtMatmulHeuristicResult_t> found(max_candidates);
  int count = 0;
  cublasStatus_t status = h.lt.set_preference(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &max_bytes, sizeof max_bytes);
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = h.lt.set_preference(preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                                 &in_compute_type, sizeof in_compute_type);
  }
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = h.lt.heuristics(h.library, h.product, h.a, h.b, h.d, h.d, preference, max_candidates,
                             found.data(), &count);
  }
  h.lt.destroy_preference(preference);
  check(status, "cublasLtMatmulAlgoGetHeuristic");
  found.resize(static_cast<std::size_t>(count));
  return found;
}

std::string LtMatmul::text_of(const cublasLtMatmulAlgo_t& algorithm) const {
  return algorithm_text(algorithm, handles_->lt.algorithm_attribute);
}

std::string LtMatmul::implementation() const {
  return handles_->lt.version_text() + " " + text_of(chosen_.algorithm);
}

}  // namespace assay::cuda
