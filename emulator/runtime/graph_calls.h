#pragma once

#include <cuda_runtime_api.h>

#include "emulator/runtime/graph.h"
#include "emulator/runtime/process.h"

namespace emulator {

/// Finds nodes of a graph by their handles. Edges must be ordinary ones.
cudaError_t find_nodes(const Process& process, const Graph& graph, const cudaGraphNode_t* handles,
                       const cudaGraphEdgeData* data, std::size_t count, NodeSet& nodes);

/// Refuses edges that are no ordinary ones: programmatic launches are not emulated.
cudaError_t refuse_edges(const cudaGraphEdgeData* data, std::size_t count);

}  // namespace emulator
