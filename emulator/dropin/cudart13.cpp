// libcudart.so.13 for programs that name it: a version, which their references ask for, and the
// runtime behind it. Nothing differs from the runtime's own calls, which are those of CUDA 13.
