#include "kernels/cuda/map.cuh"
#include "kernels/device/element_rows.h"

namespace assay::cuda {

std::span<const KernelRow> integers_kernels() { return integer_rows<Mapper>; }

}  // namespace assay::cuda
