#include "emulator/runtime/process.h"

using namespace emulator;

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call(Wants::devices, [&](Process& p, Lock&) {
    if (can == nullptr) return cudaErrorInvalidValue;
    if (!p.devices.is_ordinal(device) || !p.devices.is_ordinal(peer)) {
      return cudaErrorInvalidDevice;
    }
    *can = p.devices.can_access_peer(device, peer) ? 1 : 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    if (flags != 0) return cudaErrorInvalidValue;
    const int device = current_device();
    if (!p.devices.is_ordinal(peer) || !p.devices.can_access_peer(device, peer)) {
      return cudaErrorInvalidDevice;
    }
    if (!p.peers.emplace(device, peer).second) return cudaErrorPeerAccessAlreadyEnabled;
    p.memory.enable_peer(p.devices.gpu(device), p.devices.gpu(peer), true);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call(Wants::safety, [&](Process& p, Lock&) {
    if (!p.devices.is_ordinal(peer)) return cudaErrorInvalidDevice;
    const int device = current_device();
    if (p.peers.erase({device, peer}) == 0) return cudaErrorPeerAccessNotEnabled;
    p.memory.enable_peer(p.devices.gpu(device), p.devices.gpu(peer), false);
    return cudaSuccess;
  });
}
