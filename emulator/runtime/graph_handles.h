#pragma once

#include <memory>

#include "emulator/runtime/process.h"

namespace emulator {

/// Handles of a graph and of a node, made when first asked for.
cudaGraph_t handle_of(Process& process, const std::shared_ptr<Graph>& graph);
cudaGraphNode_t handle_of(Process& process, GraphNode& node);
/// Ends the handles of a graph and of what belongs to it.
void forget_handles(Process& process, const Graph& graph);
void forget_handles(Process& process, const GraphNode& node);

}  // namespace emulator
