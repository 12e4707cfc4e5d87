#include "emulator/runtime/image_limits.h"

namespace emulator {
namespace {

using Properties = cudaDeviceProp;

struct Limit {
  cudaDeviceAttr attribute;
  int value;
  int& (*field)(Properties&);  // null: no property tells it
};

constexpr Limit limits[] = {
    {cudaDevAttrMaxTexture1DWidth, 131072, [](Properties& p) -> int& { return p.maxTexture1D; }},
    {cudaDevAttrMaxTexture1DMipmappedWidth, 32768,
     [](Properties& p) -> int& { return p.maxTexture1DMipmap; }},
    {cudaDevAttrMaxTexture1DLinearWidth, 1 << 28, nullptr},
    {cudaDevAttrMaxTexture2DWidth, 131072, [](Properties& p) -> int& { return p.maxTexture2D[0]; }},
    {cudaDevAttrMaxTexture2DHeight, 65536, [](Properties& p) -> int& { return p.maxTexture2D[1]; }},
    {cudaDevAttrMaxTexture2DMipmappedWidth, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DMipmap[0]; }},
    {cudaDevAttrMaxTexture2DMipmappedHeight, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DMipmap[1]; }},
    {cudaDevAttrMaxTexture2DLinearWidth, 131072,
     [](Properties& p) -> int& { return p.maxTexture2DLinear[0]; }},
    {cudaDevAttrMaxTexture2DLinearHeight, 65000,
     [](Properties& p) -> int& { return p.maxTexture2DLinear[1]; }},
    {cudaDevAttrMaxTexture2DLinearPitch, 2097120,
     [](Properties& p) -> int& { return p.maxTexture2DLinear[2]; }},
    {cudaDevAttrMaxTexture2DGatherWidth, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DGather[0]; }},
    {cudaDevAttrMaxTexture2DGatherHeight, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DGather[1]; }},
    {cudaDevAttrMaxTexture3DWidth, 16384, [](Properties& p) -> int& { return p.maxTexture3D[0]; }},
    {cudaDevAttrMaxTexture3DHeight, 16384, [](Properties& p) -> int& { return p.maxTexture3D[1]; }},
    {cudaDevAttrMaxTexture3DDepth, 16384, [](Properties& p) -> int& { return p.maxTexture3D[2]; }},
    {cudaDevAttrMaxTexture3DWidthAlt, 8192,
     [](Properties& p) -> int& { return p.maxTexture3DAlt[0]; }},
    {cudaDevAttrMaxTexture3DHeightAlt, 8192,
     [](Properties& p) -> int& { return p.maxTexture3DAlt[1]; }},
    {cudaDevAttrMaxTexture3DDepthAlt, 32768,
     [](Properties& p) -> int& { return p.maxTexture3DAlt[2]; }},
    {cudaDevAttrMaxTextureCubemapWidth, 32768,
     [](Properties& p) -> int& { return p.maxTextureCubemap; }},
    {cudaDevAttrMaxTexture1DLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxTexture1DLayered[0]; }},
    {cudaDevAttrMaxTexture1DLayeredLayers, 2048,
     [](Properties& p) -> int& { return p.maxTexture1DLayered[1]; }},
    {cudaDevAttrMaxTexture2DLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DLayered[0]; }},
    {cudaDevAttrMaxTexture2DLayeredHeight, 32768,
     [](Properties& p) -> int& { return p.maxTexture2DLayered[1]; }},
    {cudaDevAttrMaxTexture2DLayeredLayers, 2048,
     [](Properties& p) -> int& { return p.maxTexture2DLayered[2]; }},
    {cudaDevAttrMaxTextureCubemapLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxTextureCubemapLayered[0]; }},
    {cudaDevAttrMaxTextureCubemapLayeredLayers, 2046,
     [](Properties& p) -> int& { return p.maxTextureCubemapLayered[1]; }},
    {cudaDevAttrMaxSurface1DWidth, 32768, [](Properties& p) -> int& { return p.maxSurface1D; }},
    {cudaDevAttrMaxSurface2DWidth, 131072, [](Properties& p) -> int& { return p.maxSurface2D[0]; }},
    {cudaDevAttrMaxSurface2DHeight, 65536, [](Properties& p) -> int& { return p.maxSurface2D[1]; }},
    {cudaDevAttrMaxSurface3DWidth, 16384, [](Properties& p) -> int& { return p.maxSurface3D[0]; }},
    {cudaDevAttrMaxSurface3DHeight, 16384, [](Properties& p) -> int& { return p.maxSurface3D[1]; }},
    {cudaDevAttrMaxSurface3DDepth, 16384, [](Properties& p) -> int& { return p.maxSurface3D[2]; }},
    {cudaDevAttrMaxSurface1DLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxSurface1DLayered[0]; }},
    {cudaDevAttrMaxSurface1DLayeredLayers, 2048,
     [](Properties& p) -> int& { return p.maxSurface1DLayered[1]; }},
    {cudaDevAttrMaxSurface2DLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxSurface2DLayered[0]; }},
    {cudaDevAttrMaxSurface2DLayeredHeight, 32768,
     [](Properties& p) -> int& { return p.maxSurface2DLayered[1]; }},
    {cudaDevAttrMaxSurface2DLayeredLayers, 2048,
     [](Properties& p) -> int& { return p.maxSurface2DLayered[2]; }},
    {cudaDevAttrMaxSurfaceCubemapWidth, 32768,
     [](Properties& p) -> int& { return p.maxSurfaceCubemap; }},
    {cudaDevAttrMaxSurfaceCubemapLayeredWidth, 32768,
     [](Properties& p) -> int& { return p.maxSurfaceCubemapLayered[0]; }},
    {cudaDevAttrMaxSurfaceCubemapLayeredLayers, 2046,
     [](Properties& p) -> int& { return p.maxSurfaceCubemapLayered[1]; }},
};

}  // namespace

std::optional<int> image_limit(cudaDeviceAttr attribute) {
  for (const Limit& limit : limits)
    if (limit.attribute == attribute) return limit.value;
  return std::nullopt;
}

void describe_image_limits(cudaDeviceProp& properties) {
  for (const Limit& limit : limits)
    if (limit.field != nullptr) limit.field(properties) = limit.value;
}

}  // namespace emulator
