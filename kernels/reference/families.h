#pragma once

#include "kernels/reference/reference.h"

// The reference of each op, chosen by dtype. One file per family.
namespace assay::reference {

Reference add(DType dtype);
Reference square(DType dtype);
Reference exponential(DType dtype);  // elementwise.cpp

Reference sum(DType dtype);        // reduction.cpp
Reference softmax(DType dtype);    // rowwise.cpp
Reference linear(DType dtype);     // linear.cpp
Reference copy(DType dtype);       // copy.cpp
Reference allreduce(DType dtype);  // allreduce.cpp

}  // namespace assay::reference
