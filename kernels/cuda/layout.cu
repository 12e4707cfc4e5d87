#include <thrust/execution_policy.h>
#include <thrust/gather.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include "kernels/cuda/storage_types.cuh"

// Ops that move elements without computing.
namespace assay::cuda {
namespace {

/// Side of a tile in shared memory, which makes reads and writes of rows contiguous.
constexpr int side = 32;
constexpr int rows_at_once = 8;

template <class W>
__global__ void transpose_tiles(const W* x, W* y, std::int64_t rows, std::int64_t cols,
                                std::int64_t tiles_across, std::int64_t tiles) {
  __shared__ W shared[side][side + 1];  // one more: puts columns into different banks
  for (std::int64_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
    const std::int64_t r0 = tile / tiles_across * side;
    const std::int64_t c0 = tile % tiles_across * side;
    for (int i = threadIdx.y; i < side; i += rows_at_once) {
      const std::int64_t r = r0 + i;
      const std::int64_t c = c0 + threadIdx.x;
      if (r < rows && c < cols) shared[i][threadIdx.x] = x[r * cols + c];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < side; i += rows_at_once) {
      const std::int64_t c = c0 + i;
      const std::int64_t r = r0 + threadIdx.x;
      if (r < rows && c < cols) y[c * rows + r] = shared[threadIdx.x][i];
    }
    __syncthreads();
  }
}

std::unique_ptr<Kernel> transpose(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class W>(std::type_identity<W>) -> std::unique_ptr<Kernel> {
    const std::int64_t rows = op.params.integer("rows");
    const std::int64_t cols = op.params.integer("cols");
    const std::int64_t across = (cols + side - 1) / side;
    const std::int64_t tiles = (rows + side - 1) / side * across;
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(tiles, 1 << 20));
    return std::make_unique<FunctionKernel>(
        "tiles in shared memory", binding,
        [=, x = input<W>(binding, 0), y = output<W>(binding)](cudaStream_t stream) {
          transpose_tiles<<<blocks, dim3(side, rows_at_once), 0, stream>>>(x, y, rows, cols, across,
                                                                           tiles);
        });
  });
}

/// Position of the source of element i of the gathered rows.
struct Source {
  const std::int64_t* index;
  std::int64_t cols;
  __device__ std::int64_t operator()(std::int64_t i) const {
    return index[i / cols] * cols + i % cols;
  }
};

std::unique_ptr<Kernel> gather(const OpInstance& op, const Binding& binding) {
  return for_size(op, [&]<class W>(std::type_identity<W>) -> std::unique_ptr<Kernel> {
    const Source source{input<std::int64_t>(binding, 1), op.params.integer("cols")};
    const std::int64_t n = op.signature.outputs[0].elements();
    return std::make_unique<FunctionKernel>(
        thrust_version_text() + " gather", binding,
        [=, x = input<W>(binding, 0), y = output<W>(binding)](cudaStream_t stream) {
          if (n == 0) return;
          const auto from =
              thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(0), source);
          thrust::gather(thrust::cuda::par_nosync.on(stream), from, from + n, x, y);
        });
  });
}

constexpr KernelRow rows[] = {
    {"transpose", transpose},
    {"gather", gather},
};

}  // namespace

std::span<const KernelRow> layout_kernels() { return rows; }

}  // namespace assay::cuda
