// Part of query.cpp: questions about memory, copies of rows, and pointers.
#pragma once

#include "common/driver/tests/query_ask.h"

namespace {

void memory() {
  start();
  CUdeviceptr address = 0, first = 0;
  std::size_t pitch = 0, bytes = 0;
  void* host = nullptr;
  int number = 5, back = 0;
  S(cuMemAlloc(nullptr, 4));
  S(cuMemAlloc(&address, 0));
  S(cuMemAlloc(&address, std::size_t{1} << 50));
  S(cuMemAlloc(&address, 4096));
  S(cuMemGetAddressRange(&first, &bytes, address + 100));
  N(first == address);
  N(bytes);
  S(cuMemGetAddressRange(&first, &bytes, reinterpret_cast<CUdeviceptr>(&number)));
  S(cuMemcpyHtoD(address, &number, 4));
  S(cuMemcpyDtoH(&back, address, 4));
  N(back);
  S(cuMemcpyHtoD(address, nullptr, 4));
  S(cuMemcpyHtoD(0, &number, 4));
  S(cuMemcpyHtoD(0, nullptr, 0));
  S(cuMemcpyDtoD(address + 16, address, 4));
  S(cuMemcpy(reinterpret_cast<CUdeviceptr>(&back), address + 16, 4));
  S(cuMemcpyDtoH(&back, reinterpret_cast<CUdeviceptr>(&number), 4));
  S(cuMemcpyHtoD(reinterpret_cast<CUdeviceptr>(&back), &number, 4));
  S(cuMemsetD32(address, 0x01020304, 4));
  S(cuMemsetD16(address + 2, 0x0506, 1));
  S(cuMemcpyDtoH(&back, address, 4));
  N(back);
  S(cuMemsetD32(address + 1, 0, 1));
  S(cuMemsetD16(address + 1, 0, 1));
  S(cuMemsetD8(0, 0, 1));
  S(cuMemsetD8(0, 0, 0));
  S(cuMemsetD2D32(address, 64, 7, 4, 3));
  S(cuMemcpyDtoH(&back, address + 128, 4));
  N(back);
  S(cuMemAllocPitch(&first, &pitch, 100, 4, 4));
  N(pitch);
  S(cuMemFree(first));
  S(cuMemAllocPitch(&first, &pitch, 100, 4, 3));
  S(cuMemAllocPitch(&first, &pitch, 0, 4, 4));
  S(cuMemFree(address + 4));
  S(cuMemFree(address));
  S(cuMemFree(address));
  S(cuMemFree(0));
  S(cuMemFree(reinterpret_cast<CUdeviceptr>(&number)));
  S(cuMemAllocHost(&host, 64));
  S(cuMemHostGetDevicePointer(&address, host, 0));
  N(address == reinterpret_cast<CUdeviceptr>(host));
  S(cuMemHostGetDevicePointer(&address, &number, 0));
  S(cuMemFreeHost(host));
  S(cuMemFreeHost(host));
  S(cuMemFreeHost(nullptr));
  S(cuMemHostAlloc(&host, 0, 0));
  S(cuMemHostAlloc(&host, 4, 0xff));
  static char area[8192];
  S(cuMemHostRegister(area, sizeof area, 0));
  S(cuMemHostRegister(area, sizeof area, 0));
  S(cuMemHostUnregister(area));
  S(cuMemHostUnregister(area));
  S(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL));
  S(cuMemAllocManaged(&first, 64, 0));
  S(cuMemFree(address));
}

void copies_of_rows() {
  start();
  CUdeviceptr address = 0;
  unsigned char in[6][10], out[24] = {};
  for (int i = 0; i < 60; i++) in[i / 10][i % 10] = static_cast<unsigned char>(i);
  S(cuMemAlloc(&address, 256));
  CUDA_MEMCPY2D c{};
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.srcHost = in;
  c.srcPitch = 10;
  c.srcXInBytes = 2;
  c.srcY = 1;
  c.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  c.dstDevice = address;
  c.dstPitch = 16;
  c.WidthInBytes = 4;
  c.Height = 3;
  S(cuMemcpy2D(&c));
  S(cuMemcpyDtoH(out, address + 16, 4));
  N(out[0]);
  N(out[3]);
  c.WidthInBytes = 11;
  c.srcXInBytes = 0;
  S(cuMemcpy2D(&c));
  c.WidthInBytes = 4;
  c.srcMemoryType = static_cast<CUmemorytype>(0);
  S(cuMemcpy2D(&c));
  c.srcMemoryType = CU_MEMORYTYPE_HOST;
  c.Height = 0;
  S(cuMemcpy2D(&c));
  S(cuMemcpy2D(nullptr));
  CUDA_MEMCPY3D d{};
  d.srcMemoryType = CU_MEMORYTYPE_HOST;
  d.srcHost = in;
  d.srcPitch = 10;
  d.srcHeight = 3;
  d.srcZ = 1;
  d.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  d.dstDevice = address;
  d.dstPitch = 12;
  d.dstHeight = 2;
  d.WidthInBytes = 12 - 2;
  d.Height = 2;
  d.Depth = 1;
  S(cuMemcpy3D(&d));
  S(cuMemcpyDtoH(out, address + 12, 12));
  N(out[0]);
}

void pointers() {
  CUcontext context = start();
  CUdeviceptr address = 0, answer = 0;
  CUcontext of = nullptr;
  unsigned type = 0, managed = 7;
  int ordinal = 9, here = 0;
  std::size_t bytes = 0;
  void* host = nullptr;
  const auto stack = reinterpret_cast<CUdeviceptr>(&here);
  S(cuMemAlloc(&address, 1000));
  S(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + 8));
  N(type);
  S(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, address));
  N(of == context);
  S(cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address + 8));
  N(answer - address);
  S(cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, address));
  S(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  N(managed);
  S(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  N(ordinal);
  S(cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address + 8));
  N(answer == address);
  S(cuPointerGetAttribute(&bytes, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address + 8));
  N(bytes);
  S(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, stack));
  S(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0));
  S(cuPointerGetAttribute(nullptr, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_CONTEXT,
                                 CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* places[] = {&type, &of, &managed, &ordinal};
  S(cuPointerGetAttributes(4, which, places, stack));
  N(type);
  N(of == nullptr);
  N(managed);
  N(ordinal);
  S(cuPointerGetAttributes(4, which, places, address));
  N(type);
  N(ordinal);
  S(cuMemAllocHost(&host, 64));
  S(cuPointerGetAttributes(4, which, places, reinterpret_cast<CUdeviceptr>(host)));
  N(type);
  N(of == context);
  S(cuMemAllocManaged(&address, 64, CU_MEM_ATTACH_GLOBAL));
  S(cuPointerGetAttributes(4, which, places, address));
  N(type);
  N(managed);
}

}  // namespace
