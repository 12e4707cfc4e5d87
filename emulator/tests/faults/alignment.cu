// Addresses that are no multiple of what is read or written there.

template <class T>
__device__ void copy(const char* in, char* out, int in_offset, int out_offset) {
  *reinterpret_cast<T*>(out + out_offset) = *reinterpret_cast<const T*>(in + in_offset);
}

extern "C" __global__ void copy_2(const char* in, char* out, int in_offset, int out_offset) {
  copy<short>(in, out, in_offset, out_offset);
}

extern "C" __global__ void copy_4(const char* in, char* out, int in_offset, int out_offset) {
  copy<int>(in, out, in_offset, out_offset);
}

extern "C" __global__ void copy_8(const char* in, char* out, int in_offset, int out_offset) {
  copy<double>(in, out, in_offset, out_offset);
}

extern "C" __global__ void copy_16(const char* in, char* out, int in_offset, int out_offset) {
  copy<int4>(in, out, in_offset, out_offset);
}

extern "C" __global__ void add_4(char* out, int offset) {
  atomicAdd(reinterpret_cast<int*>(out + offset), 1);
}

extern "C" __global__ void shared_8(double* out, int offset) {
  __shared__ __align__(16) char place[64];
  for (int i = 0; i < 64; ++i) place[i] = static_cast<char>(i);
  *out = *reinterpret_cast<volatile double*>(place + offset);
}
