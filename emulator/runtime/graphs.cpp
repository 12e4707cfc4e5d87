#include <algorithm>
#include <utility>

#include "emulator/runtime/graph.h"
#include "emulator/runtime/graph_handles.h"
#include "emulator/runtime/graph_run.h"
#include "emulator/runtime/say.h"
#include "emulator/runtime/streams.h"

// Graphs as wholes: made, cloned, instantiated, updated and launched.
namespace emulator {
namespace {

/// Tickets of the events that a launch records, and of those that it waits for.
struct EventTickets {
  std::vector<TicketPointer> recorded, awaited;
};

/// The record of an event by a node. The event counts as recorded from the launch on.
WorkStep record_step(Process& p, Event& event, const Stream& stream, EventTickets& events) {
  const auto ticket = events.recorded.emplace_back(std::make_shared<Ticket>());
  event.ticket = ticket;
  event.position = {stream.queue, stream.queue->count(),
                    p.scheduler.count_of_others(*stream.queue)};
  event.front = {};
  return [&p, ticket] {
    const Lock lock(p.mutex);
    ticket->is_done = true;
    ticket->done_at = Clock::now();
    return Progress::done;
  };
}

WorkStep wait_step(Process& p, const Event& event, EventTickets& events) {
  if (event.ticket != nullptr) events.awaited.push_back(event.ticket);
  return [&p, ticket = event.ticket] {
    const Lock lock(p.mutex);
    return ticket == nullptr || ticket->is_done ? Progress::done : Progress::waits;
  };
}

/// The node's step in one launch.
WorkStep step_of(Process& p, const ExecutableNode& node, const Stream& stream,
                 EventTickets& events) {
  if (!node.is_enabled) return [] { return Progress::done; };
  const auto* details = node.work.node.get();
  const auto* handle =
      details == nullptr ? nullptr : std::get_if<cudaEvent_t>(&details->parameters);
  if (handle == nullptr) return node.work.step;
  const auto event = p.events.find(*handle);
  if (event == nullptr) return [] { return Progress::done; };  // destroyed since
  return details->type == cudaGraphNodeTypeEventRecord ? record_step(p, *event, stream, events)
                                                       : wait_step(p, *event, events);
}

WorkStep run_of(Process& p, const ExecutableGraph& graph, const Stream& stream,
                EventTickets& events) {
  if (graph.nodes.empty()) return [] { return Progress::done; };
  std::vector<GraphRun::Node> nodes;
  // Waits first: they are for the records before this launch.
  for (const bool records : {false, true}) {
    nodes.resize(graph.nodes.size());
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      const auto& node = graph.nodes[i];
      const bool is_record =
          node.work.node != nullptr && node.work.node->type == cudaGraphNodeTypeEventRecord;
      if (is_record == records) nodes[i] = {step_of(p, node, stream, events), node.after};
    }
  }
  return GraphRun(std::move(nodes), p.scheduler.random()());
}

/// Enqueues work of a graph behind the stream's and the graph's own earlier work.
cudaError_t submit_graph(cudaGraphExec_t handle, cudaStream_t stream_handle, bool runs) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.executable_graphs.find(handle);
    const auto stream = find_stream(p, stream_handle);
    if (graph == nullptr) return cudaErrorInvalidValue;
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    Work work{
        runs ? "cudaGraphLaunch" : "cudaGraphUpload", [] { return Progress::done; }, {graph->last}};
    EventTickets events;
    if (runs) work.step = run_of(p, *graph, *stream, events);
    if (stream->front.capture != nullptr)
      work.node = std::make_shared<NodeDetails>(NodeDetails{cudaGraphNodeTypeGraph});
    TicketPointer ticket;
    const cudaError_t error = submit(p, *stream, std::move(work), &ticket);
    if (ticket == nullptr) return error;
    // For the order of work a graph is one piece: all of it comes after the events that any node
    // waits for, and before those that any node records.
    for (const TicketPointer& event : events.awaited)
      ticket->position.before.join(event->position.before);
    for (const TicketPointer& event : events.recorded) event->position = ticket->position;
    graph->last = std::move(ticket);
    return error;
  });
}

cudaError_t instantiate(cudaGraphExec_t* handle, cudaGraph_t graph_handle, unsigned long long flags,
                        cudaGraphInstantiateResult* result) {
  return call(Wants::context, [&](Process& p, Lock&) {
    constexpr unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                         cudaGraphInstantiateFlagUpload |
                                         cudaGraphInstantiateFlagUseNodePriority;
    const auto graph = p.graphs.find(graph_handle);
    if (result != nullptr) *result = cudaGraphInstantiateError;
    if (handle == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    if (flags == cudaGraphInstantiateFlagDeviceLaunch) {
      say("graphs that kernels launch are not emulated");
      return cudaErrorNotSupported;
    }
    if ((flags & ~known) != 0) return cudaErrorInvalidValue;
    auto nodes = executable_nodes(*graph);
    if (!nodes) {
      if (result != nullptr) *result = cudaGraphInstantiateInvalidStructure;
      return cudaErrorInvalidValue;
    }
    *handle = p.executable_graphs.add(
        std::make_shared<ExecutableGraph>(ExecutableGraph{std::move(*nodes), flags}));
    if (result != nullptr) *result = cudaGraphInstantiateSuccess;
    return cudaSuccess;
  });
}

cudaGraphNodeType type_of(const ExecutableNode& node) {
  return node.work.node == nullptr ? cudaGraphNodeTypeKernel : node.work.node->type;
}

/// What differs between an executable graph and the nodes that it is to take, and at which node.
std::pair<cudaGraphExecUpdateResult, std::size_t> difference(
    const std::vector<ExecutableNode>& old, const std::vector<ExecutableNode>& wanted) {
  const std::size_t common = std::min(old.size(), wanted.size());
  for (std::size_t i = 0; i < common; ++i) {
    if (type_of(old[i]) != type_of(wanted[i])) return {cudaGraphExecUpdateErrorNodeTypeChanged, i};
    if (old[i].after != wanted[i].after) return {cudaGraphExecUpdateErrorTopologyChanged, i};
  }
  if (old.size() == wanted.size()) return {cudaGraphExecUpdateSuccess, common};
  return {cudaGraphExecUpdateErrorTopologyChanged, common};
}

/// The handle of the node of this number, also in child graphs.
cudaGraphNode_t handle_of_id(Process& p, const Graph& graph, std::uint64_t id) {
  for (const auto& node : graph.nodes) {
    if (node->id == id) return handle_of(p, *node);
    const auto* child = node->parameters<std::shared_ptr<Graph>>();
    if (child == nullptr) continue;
    if (const cudaGraphNode_t found = handle_of_id(p, **child, id)) return found;
  }
  return nullptr;
}

}  // namespace
}  // namespace emulator

using namespace emulator;

cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    if (handle == nullptr || flags != 0) return cudaErrorInvalidValue;
    *handle = handle_of(p, std::make_shared<Graph>());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* handle, cudaGraph_t original) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(original);
    if (handle == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    *handle = handle_of(p, graph->clone());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.graphs.find(handle);
    if (graph == nullptr || graph->is_child) return cudaErrorInvalidValue;
    forget_handles(p, *graph);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* handle, cudaGraph_t graph,
                                 unsigned long long flags) {
  return instantiate(handle, graph, flags, nullptr);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* handle, cudaGraph_t graph,
                                          unsigned long long flags) {
  return instantiate(handle, graph, flags, nullptr);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* handle, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  if (parameters == nullptr) return last_error() = cudaErrorInvalidValue;
  parameters->errNode_out = nullptr;
  const cudaError_t error = instantiate(handle, graph, parameters->flags, &parameters->result_out);
  const bool uploads = (parameters->flags & cudaGraphInstantiateFlagUpload) != 0;
  if (error != cudaSuccess || !uploads) return error;
  return cudaGraphUpload(*handle, parameters->uploadStream);
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto graph = p.executable_graphs.find(handle);
    if (graph == nullptr || flags == nullptr) return cudaErrorInvalidValue;
    *flags = graph->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph_handle,
                                cudaGraphExecUpdateResultInfo* info) {
  return call(Wants::context, [&](Process& p, Lock&) {
    const auto executable = p.executable_graphs.find(handle);
    const auto graph = p.graphs.find(graph_handle);
    if (executable == nullptr || graph == nullptr) return cudaErrorInvalidValue;
    auto wanted = executable_nodes(*graph);
    if (!wanted) return cudaErrorInvalidValue;
    const auto [result, at] = difference(executable->nodes, *wanted);
    if (info != nullptr) {
      *info = {result, nullptr, nullptr};
      if (at < wanted->size()) info->errorNode = handle_of_id(p, *graph, (*wanted)[at].origin);
    }
    if (result != cudaGraphExecUpdateSuccess) return cudaErrorGraphExecUpdateFailure;
    for (std::size_t i = 0; i < wanted->size(); ++i)
      executable->nodes[i].work = std::move((*wanted)[i].work);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream) {
  return submit_graph(graph, stream, false);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  return submit_graph(graph, stream, true);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  return call(Wants::context, [&](Process& p, Lock&) {
    return p.executable_graphs.remove(graph) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
