#include "kernels/cpu/map.h"
#include "kernels/device/element_rows.h"

namespace assay::cpu {

std::span<const KernelRow> integers_kernels() { return integer_rows<Mapper>; }

}  // namespace assay::cpu
