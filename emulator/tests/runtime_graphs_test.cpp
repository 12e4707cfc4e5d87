#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "emulator/tests/embedded_kernel.h"
#include "emulator/tests/recorded_work.h"

namespace emulator {
namespace {

/// `add(int* to, int value)`: one thread adds the value to a number.
constexpr const char* ptx = R"(
.version 9.0
.target sm_75
.address_size 64

.visible .entry add(.param .u64 add_param_0, .param .u32 add_param_1)
{
	.reg .b32 	%r<4>;
	.reg .b64 	%rd<3>;
	ld.param.u64 	%rd1, [add_param_0];
	ld.param.u32 	%r1, [add_param_1];
	cvta.to.global.u64 	%rd2, %rd1;
	ld.global.u32 	%r2, [%rd2];
	add.s32 	%r3, %r2, %r1;
	st.global.u32 	[%rd2], %r3;
	ret;
}
)";

/// A kernel, and two numbers of the GPU that are 0.
struct Bench {
  Bench() {
    code.add("add", symbol);
    EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(&numbers), 2 * sizeof(int)));
    EXPECT_CUDA(cudaMemset(numbers, 0, 2 * sizeof(int)));
    EXPECT_CUDA(cudaDeviceSynchronize());
    EXPECT_CUDA(cudaGraphCreate(&graph, 0));
  }
  int number(int index = 0) const {
    int value = 0;
    EXPECT_CUDA(cudaMemcpy(&value, numbers + index, sizeof value, cudaMemcpyDeviceToHost));
    return value;
  }
  cudaGraphNode_t add_kernel(int value, const std::vector<cudaGraphNode_t>& after = {},
                             int index = 0) {
    cudaGraphNode_t node = nullptr;
    int* to = numbers + index;
    void* arguments[] = {&to, &value};
    const cudaKernelNodeParams parameters = kernel(arguments);
    EXPECT_CUDA(cudaGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters));
    return node;
  }
  cudaKernelNodeParams kernel(void** arguments) {
    cudaKernelNodeParams parameters{};
    parameters.func = &symbol;
    parameters.gridDim = dim3(1);
    parameters.blockDim = dim3(1);
    parameters.kernelParams = arguments;
    return parameters;
  }
  cudaGraphExec_t instantiate() const {
    cudaGraphExec_t executable = nullptr;
    EXPECT_CUDA(cudaGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  static void launch(cudaGraphExec_t executable) {
    EXPECT_CUDA(cudaGraphLaunch(executable, nullptr));
    EXPECT_CUDA(cudaDeviceSynchronize());
  }
  char symbol = 0;
  EmbeddedKernels code{ptx};
  int* numbers = nullptr;
  cudaGraph_t graph = nullptr;
};

std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  EXPECT_CUDA(cudaGraphGetNodes(graph, nullptr, &count));
  std::vector<cudaGraphNode_t> nodes(count);
  EXPECT_CUDA(cudaGraphGetNodes(graph, nodes.data(), &count));
  return nodes;
}

TEST(RuntimeGraphs, RunNodesBehindThoseThatTheyDependOn) {
  for (int seed = 0; seed < 10; ++seed) {
    on_gpus(
        1,
        [] {
          Bench b;
          int result = 0;
          cudaGraphNode_t memset = nullptr, copy = nullptr, host = nullptr, empty = nullptr;
          const cudaMemsetParams set{b.numbers, 0, 5, 4, 1, 1};
          EXPECT_CUDA(cudaGraphAddMemsetNode(&memset, b.graph, nullptr, 0, &set));
          const cudaGraphNode_t first = b.add_kernel(1, {memset});
          EXPECT_CUDA(cudaGraphAddEmptyNode(&empty, b.graph, &first, 1));
          const cudaGraphNode_t second = b.add_kernel(2, {empty});
          EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&copy, b.graph, &second, 1, &result, b.numbers, 4,
                                               cudaMemcpyDeviceToHost));
          cudaHostNodeParams times_ten{[](void* data) { *static_cast<int*>(data) *= 10; }, &result};
          EXPECT_CUDA(cudaGraphAddHostNode(&host, b.graph, &copy, 1, &times_ten));
          cudaGraphExec_t executable = b.instantiate();
          EXPECT_CUDA(cudaGraphDestroy(b.graph));
          for (int round = 0; round < 2; ++round) {
            result = 0;
            Bench::launch(executable);
            EXPECT_EQ(result, 80);
          }
        },
        {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
  }
}

TEST(RuntimeGraphs, MemsetsHaveElementsAndRows) {
  on_gpus(1, [] {
    const Bench b;
    unsigned char* bytes = nullptr;
    std::vector<unsigned char> mine(16);
    EXPECT_CUDA(cudaMalloc(reinterpret_cast<void**>(&bytes), 16));
    EXPECT_CUDA(cudaMemset(bytes, 0, 16));
    cudaGraphNode_t node = nullptr;
    cudaMemsetParams set{bytes + 2, 8, 0x0102, 2, 2, 2};
    EXPECT_CUDA(cudaGraphAddMemsetNode(&node, b.graph, nullptr, 0, &set));
    Bench::launch(b.instantiate());
    EXPECT_CUDA(cudaMemcpy(mine.data(), bytes, 16, cudaMemcpyDeviceToHost));
    EXPECT_EQ(mine, (std::vector<unsigned char>{0, 0, 2, 1, 2, 1, 0, 0, 0, 0, 2, 1, 2, 1, 0, 0}));
    set.elementSize = 3;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphAddMemsetNode(&node, b.graph, nullptr, 0, &set));
    set.elementSize = 2;
    set.height = 3;  // past the end
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphMemsetNodeSetParams(node, &set));
  });
}

TEST(RuntimeGraphs, CopiesHaveRowsAndSlices) {
  on_gpus(1, [] {
    const Bench b;
    std::vector<char> from(2 * 3 * 4), to(2 * 3 * 4);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i);
    cudaMemcpy3DParms copy{};
    copy.srcPtr = {from.data(), 4, 4, 3};
    copy.dstPtr = {to.data(), 4, 4, 3};
    copy.srcPos = {1, 1, 0};
    copy.extent = {2, 2, 2};
    copy.kind = cudaMemcpyHostToHost;
    cudaGraphNode_t node = nullptr;
    EXPECT_CUDA(cudaGraphAddMemcpyNode(&node, b.graph, nullptr, 0, &copy));
    Bench::launch(b.instantiate());
    EXPECT_EQ(to, (std::vector<char>{5,  6,  0, 0, 9,  10, 0, 0, 0, 0, 0, 0,
                                     17, 18, 0, 0, 21, 22, 0, 0, 0, 0, 0, 0}));
    copy.extent.width = 4;
    EXPECT_REFUSED(cudaErrorInvalidPitchValue,
                   cudaGraphAddMemcpyNode(&node, b.graph, nullptr, 0, &copy));
  });
}

TEST(RuntimeGraphs, TellTheirNodesAndEdges) {
  on_gpus(1, [] {
    Bench b;
    const cudaGraphNode_t first = b.add_kernel(1), second = b.add_kernel(2, {first}),
                          third = b.add_kernel(3, {first});
    EXPECT_EQ(nodes_of(b.graph), (std::vector<cudaGraphNode_t>{first, second, third}));
    std::size_t count = 3;
    cudaGraphNode_t found[3] = {};
    EXPECT_CUDA(cudaGraphGetRootNodes(b.graph, found, &count));
    EXPECT_EQ(count, 1U);
    EXPECT_EQ(found[0], first);
    EXPECT_EQ(found[1], nullptr);
#if CUDART_VERSION >= 13000
    cudaGraphNode_t to[3] = {};
    count = 3;
    EXPECT_CUDA(cudaGraphGetEdges(b.graph, found, to, nullptr, &count));
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(found[1], first);
    EXPECT_EQ(to[1], third);
    EXPECT_CUDA(cudaGraphAddDependencies(b.graph, &second, &third, nullptr, 1));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaGraphAddDependencies(b.graph, &second, &third, nullptr, 1));
    count = 3;
    EXPECT_CUDA(cudaGraphNodeGetDependencies(third, found, nullptr, &count));
    EXPECT_EQ(count, 2U);
    EXPECT_CUDA(cudaGraphNodeGetDependentNodes(first, nullptr, nullptr, &count));
    EXPECT_EQ(count, 2U);
    EXPECT_CUDA(cudaGraphRemoveDependencies(b.graph, &first, &third, nullptr, 1));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaGraphRemoveDependencies(b.graph, &first, &third, nullptr, 1));
    cudaGraphEdgeData programmatic{};
    programmatic.from_port = cudaGraphKernelNodePortProgrammatic;
    programmatic.type = cudaGraphDependencyTypeProgrammatic;
    EXPECT_REFUSED(cudaErrorNotSupported,
                   cudaGraphAddDependencies(b.graph, &first, &third, &programmatic, 1));
    // A circle is no graph.
    EXPECT_CUDA(cudaGraphAddDependencies(b.graph, &third, &first, nullptr, 1));
    cudaGraphExec_t executable = nullptr;
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphInstantiate(&executable, b.graph, 0));
#endif
    EXPECT_CUDA(cudaGraphDestroyNode(third));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphDestroyNode(third));
    EXPECT_EQ(nodes_of(b.graph).size(), 2U);
    Bench::launch(b.instantiate());
    EXPECT_EQ(b.number(), 3);
  });
}

TEST(RuntimeGraphs, KernelsTakeOtherArguments) {
  on_gpus(1, [] {
    Bench b;
    const cudaGraphNode_t node = b.add_kernel(1);
    cudaGraphExec_t executable = b.instantiate();
    cudaKernelNodeParams parameters{};
    EXPECT_CUDA(cudaGraphKernelNodeGetParams(node, &parameters));
    EXPECT_EQ(parameters.func, &b.symbol);
    EXPECT_EQ(*static_cast<int*>(parameters.kernelParams[1]), 1);
    int value = 10;
    void* arguments[] = {parameters.kernelParams[0], &value};
    parameters.kernelParams = arguments;
    EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(executable, node, &parameters));
    Bench::launch(executable);
    EXPECT_EQ(b.number(), 10);
    value = 100;
    EXPECT_CUDA(cudaGraphKernelNodeSetParams(node, &parameters));
    Bench::launch(executable);  // as it was instantiated and changed
    EXPECT_EQ(b.number(), 20);
    Bench::launch(b.instantiate());
    EXPECT_EQ(b.number(), 120);
    EXPECT_CUDA(cudaGraphNodeSetEnabled(executable, node, 0));
    unsigned is_enabled = 1;
    EXPECT_CUDA(cudaGraphNodeGetEnabled(executable, node, &is_enabled));
    EXPECT_EQ(is_enabled, 0U);
    Bench::launch(executable);
    EXPECT_EQ(b.number(), 120);
    parameters.blockDim = dim3(2000);
    EXPECT_REFUSED(cudaErrorInvalidConfiguration,
                   cudaGraphExecKernelNodeSetParams(executable, node, &parameters));
    const cudaMemsetParams set{b.numbers, 0, 0, 4, 1, 1};
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphExecMemsetNodeSetParams(executable, node, &set));
  });
}

TEST(RuntimeGraphs, AreUpdatedFromGraphsOfTheSameForm) {
  on_gpus(1, [] {
    Bench b;
    const cudaGraphNode_t first = b.add_kernel(1);
    b.add_kernel(2, {first});
    cudaGraphExec_t executable = b.instantiate();
    cudaGraph_t old = b.graph;
    EXPECT_CUDA(cudaGraphCreate(&b.graph, 0));
    const cudaGraphNode_t other = b.add_kernel(30);
    const cudaGraphNode_t last = b.add_kernel(40, {other});
    cudaGraphExecUpdateResultInfo info{};
    EXPECT_CUDA(cudaGraphExecUpdate(executable, b.graph, &info));
    EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
    Bench::launch(executable);
    EXPECT_EQ(b.number(), 70);
    // Another node, another edge, another kind of node.
    cudaGraphNode_t more = b.add_kernel(1, {last});
    EXPECT_REFUSED(cudaErrorGraphExecUpdateFailure,
                   cudaGraphExecUpdate(executable, b.graph, &info));
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
    EXPECT_EQ(info.errorNode, more);
    EXPECT_CUDA(cudaGraphDestroyNode(more));
    EXPECT_CUDA(cudaGraphDestroyNode(last));
    EXPECT_CUDA(cudaGraphAddEmptyNode(&more, b.graph, &other, 1));
    EXPECT_REFUSED(cudaErrorGraphExecUpdateFailure,
                   cudaGraphExecUpdate(executable, b.graph, &info));
    EXPECT_EQ(info.result, cudaGraphExecUpdateErrorNodeTypeChanged);
    Bench::launch(executable);
    EXPECT_EQ(b.number(), 140);
    EXPECT_CUDA(cudaGraphDestroy(old));
  });
}

TEST(RuntimeGraphs, HaveClonesAndChildren) {
  for (int seed = 0; seed < 10; ++seed)
    on_gpus(1,
            [] {
              Bench b;
              cudaGraph_t clone = nullptr, parent = nullptr, child = nullptr;
              cudaGraphNode_t in_clone = nullptr, child_node = nullptr, after = nullptr;
              const cudaGraphNode_t node = b.add_kernel(1);
              EXPECT_CUDA(cudaGraphClone(&clone, b.graph));
              EXPECT_CUDA(cudaGraphNodeFindInClone(&in_clone, node, clone));
              EXPECT_EQ(nodes_of(clone), std::vector<cudaGraphNode_t>{in_clone});
              EXPECT_NE(in_clone, node);
              EXPECT_CUDA(cudaGraphCreate(&parent, 0));
              EXPECT_CUDA(cudaGraphAddChildGraphNode(&child_node, parent, nullptr, 0, b.graph));
              EXPECT_CUDA(cudaGraphChildGraphNodeGetGraph(child_node, &child));
              EXPECT_EQ(nodes_of(child).size(), 1U);
              EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphDestroy(child));
              b.add_kernel(5);  // no longer in the clones
              int result = 0;
              EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&after, parent, &child_node, 1, &result,
                                                   b.numbers, 4, cudaMemcpyDeviceToHost));
              cudaGraphExec_t executable = nullptr;
              EXPECT_CUDA(cudaGraphInstantiate(&executable, parent, 0));
              Bench::launch(executable);
              EXPECT_EQ(result, 1);
              // A node of the child can be changed, too.
              int value = 7;
              void* arguments[] = {&b.numbers, &value};
              const cudaKernelNodeParams parameters = b.kernel(arguments);
              EXPECT_CUDA(cudaGraphExecKernelNodeSetParams(executable, nodes_of(child).front(),
                                                           &parameters));
              Bench::launch(executable);
              EXPECT_EQ(result, 8);
              EXPECT_CUDA(cudaGraphDestroy(parent));
              EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphDestroyNode(child_node));
            },
            {{"ASSAY_EMULATOR_SEED", std::to_string(seed)}});
}

TEST(RuntimeGraphs, RecordEventsAndWaitForThem) {
  on_gpus(1, [] {
    Bench b;
    cudaEvent_t gate_event = new_event(), start = new_event(), end = new_event();
    cudaGraphNode_t wait = nullptr, first = nullptr, last = nullptr;
    cudaStream_t gate_stream = new_stream(), stream = new_stream();
    EXPECT_CUDA(cudaGraphAddEventRecordNode(&first, b.graph, nullptr, 0, start));
    EXPECT_CUDA(cudaGraphAddEventWaitNode(&wait, b.graph, &first, 1, gate_event));
    const cudaGraphNode_t kernel = b.add_kernel(1, {wait});
    EXPECT_CUDA(cudaGraphAddEventRecordNode(&last, b.graph, &kernel, 1, end));
    cudaGraphExec_t executable = b.instantiate();
    std::atomic<bool> gate = false;
    RecordedWork::enqueue_gate(gate, gate_stream);
    EXPECT_CUDA(cudaEventRecord(gate_event, gate_stream));
    EXPECT_CUDA(cudaGraphLaunch(executable, stream));
    EXPECT_CUDA(cudaEventSynchronize(start));
    EXPECT_REFUSED(cudaErrorNotReady, cudaEventQuery(end));
    gate = true;
    EXPECT_CUDA(cudaEventSynchronize(end));
    EXPECT_EQ(b.number(), 1);
    float ms = -1;
    EXPECT_CUDA(cudaEventElapsedTime(&ms, start, end));
    EXPECT_GE(ms, 0);
    cudaEvent_t found = nullptr;
    EXPECT_CUDA(cudaGraphEventRecordNodeGetEvent(last, &found));
    EXPECT_EQ(found, end);
    EXPECT_CUDA(cudaGraphExecEventRecordNodeSetEvent(executable, last, gate_event));
    Bench::launch(executable);
    EXPECT_CUDA(cudaEventQuery(gate_event));
    EXPECT_REFUSED(cudaErrorInvalidValue, cudaGraphEventWaitNodeGetEvent(last, &found));
  });
}

TEST(RuntimeGraphs, OfCapturesTellWhatTheyHaveRecorded) {
  on_gpus(1, [] {
    Bench b;
    cudaStream_t stream = new_stream();
    cudaGraph_t graph = nullptr;
    int value = 3;
    void* arguments[] = {&b.numbers, &value};
    EXPECT_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaMemsetAsync(b.numbers, 0, 4, stream));
    EXPECT_CUDA(cudaLaunchKernel(&b.symbol, dim3(1), dim3(1), arguments, 0, stream));
    EXPECT_CUDA(cudaMemcpyAsync(b.numbers + 1, b.numbers, 4, cudaMemcpyDeviceToDevice, stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &graph));
    const auto nodes = nodes_of(graph);
    std::vector<cudaGraphNodeType> types(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i)
      EXPECT_CUDA(cudaGraphNodeGetType(nodes[i], &types[i]));
    EXPECT_EQ(types,
              (std::vector<cudaGraphNodeType>{cudaGraphNodeTypeMemset, cudaGraphNodeTypeKernel,
                                              cudaGraphNodeTypeMemcpy}));
    cudaKernelNodeParams kernel{};
    EXPECT_CUDA(cudaGraphKernelNodeGetParams(nodes[1], &kernel));
    EXPECT_EQ(kernel.func, &b.symbol);
    EXPECT_EQ(*static_cast<int*>(kernel.kernelParams[1]), 3);
    cudaMemsetParams set{};
    EXPECT_CUDA(cudaGraphMemsetNodeGetParams(nodes[0], &set));
    EXPECT_EQ(set.dst, b.numbers);
    cudaMemcpy3DParms copy{};
    EXPECT_CUDA(cudaGraphMemcpyNodeGetParams(nodes[2], &copy));
    EXPECT_EQ(copy.dstPtr.ptr, b.numbers + 1);
    EXPECT_EQ(copy.extent.width, 4U);
    cudaGraphExec_t executable = nullptr;
    EXPECT_CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    Bench::launch(executable);
    EXPECT_EQ(b.number(1), 3);
  });
}

#if CUDART_VERSION >= 13000
TEST(RuntimeGraphs, AreBuiltWhileStreamsCapture) {
  on_gpus(1, [] {
    Bench b;
    cudaStream_t stream = new_stream();
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    unsigned long long id = 0;
    cudaGraph_t graph = nullptr, ended = nullptr;
    const cudaGraphNode_t* dependencies = nullptr;
    std::size_t count = 0;
    EXPECT_CUDA(
        cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
    EXPECT_EQ(status, cudaStreamCaptureStatusNone);
    const cudaGraphNode_t before = b.add_kernel(1);
    EXPECT_CUDA(cudaStreamBeginCaptureToGraph(stream, b.graph, &before, nullptr, 1,
                                              cudaStreamCaptureModeGlobal));
    EXPECT_CUDA(cudaMemcpyAsync(b.numbers + 1, b.numbers, 4, cudaMemcpyDeviceToDevice, stream));
    EXPECT_CUDA(
        cudaStreamGetCaptureInfo(stream, &status, &id, &graph, &dependencies, nullptr, &count));
    EXPECT_EQ(status, cudaStreamCaptureStatusActive);
    EXPECT_EQ(graph, b.graph);
    ASSERT_EQ(count, 1U);
    EXPECT_EQ(nodes_of(graph), (std::vector<cudaGraphNode_t>{before, dependencies[0]}));
    cudaGraphNode_t added = b.add_kernel(5, {dependencies[0]}, 1);
    EXPECT_CUDA(cudaStreamUpdateCaptureDependencies(stream, &added, nullptr, 1,
                                                    cudaStreamSetCaptureDependencies));
    EXPECT_CUDA(cudaMemcpyAsync(b.numbers, b.numbers + 1, 4, cudaMemcpyDeviceToDevice, stream));
    EXPECT_CUDA(cudaStreamEndCapture(stream, &ended));
    EXPECT_EQ(ended, b.graph);
    Bench::launch(b.instantiate());
    EXPECT_EQ(b.number(), 6);
  });
}
#endif

TEST(RuntimeGraphs, AllocateAndFree) {
  on_gpus(1, [] {
    Bench b;
    cudaGraphNode_t allocation = nullptr, copy = nullptr, release = nullptr;
    cudaMemAllocNodeParams parameters{};
    parameters.poolProps.allocType = cudaMemAllocationTypePinned;
    parameters.poolProps.location.type = cudaMemLocationTypeDevice;
    parameters.bytesize = 8;
    EXPECT_CUDA(cudaGraphAddMemAllocNode(&allocation, b.graph, nullptr, 0, &parameters));
    EXPECT_CUDA(cudaGraphAddMemcpyNode1D(&copy, b.graph, &allocation, 1, parameters.dptr, b.numbers,
                                         8, cudaMemcpyDeviceToDevice));
    EXPECT_CUDA(cudaGraphAddMemFreeNode(&release, b.graph, &copy, 1, parameters.dptr));
    EXPECT_REFUSED(cudaErrorInvalidValue,
                   cudaGraphAddMemFreeNode(&release, b.graph, &copy, 1, b.numbers));
    cudaGraphExec_t executable = b.instantiate();
    Bench::launch(executable);
    Bench::launch(executable);
    EXPECT_CUDA(cudaMemset(parameters.dptr, 0, 8));  // the graph has freed it
    EXPECT_REFUSED(cudaErrorIllegalAddress, cudaDeviceSynchronize());
  });
}

TEST(RuntimeGraphs, AreDrawn) {
  on_gpus(1, [] {
    Bench b;
    b.add_kernel(2, {b.add_kernel(1)});
    const std::string path = testing::TempDir() + "emulated_graph.dot";
    EXPECT_CUDA(cudaGraphDebugDotPrint(b.graph, path.c_str(), cudaGraphDebugDotFlagsVerbose));
    std::FILE* file = std::fopen(path.c_str(), "r");
    ASSERT_NE(file, nullptr);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    std::fclose(file);
    std::remove(path.c_str());
    EXPECT_EQ(text.find("digraph"), 0U);
    EXPECT_NE(text.find("KERNEL\\nkernel add\\n<<<(1,1,1), (1,1,1), 0>>>"), std::string::npos)
        << text;
    EXPECT_NE(text.find("->"), std::string::npos) << text;
    EXPECT_REFUSED(cudaErrorOperatingSystem,
                   cudaGraphDebugDotPrint(b.graph, "/nowhere/graph.dot", 0));
  });
}

}  // namespace
}  // namespace emulator
