// Stand-in for NVML with an idle GPU of PCIe generation 5, whose link rests at generation 1. It
// lists no GPUs and names no processes.
#include <cstring>

namespace {

int tell(unsigned value, unsigned* to) {
  *to = value;
  return 0;
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus_id, void** gpu) {
  static int only_one;
  *gpu = &only_one;
  return std::strcmp(pci_bus_id, "0000:01:00.0") == 0 ? 0 : 6;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return tell(1, count); }
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, unsigned* processes) {
  processes[0] = 1234;
  return tell(1, count);
}
int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) { return tell(5, value); }
int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) { return tell(16, value); }
int nvmlDeviceGetCurrPcieLinkGeneration(void*, unsigned* value) { return tell(1, value); }
int nvmlDeviceGetCurrPcieLinkWidth(void*, unsigned* value) { return tell(8, value); }

}  // extern "C"
