// Calls every copy function, with every kind, between every two sorts of memory, and prints the
// results. Fails if a result breaks the rule for copies (../../DESIGN.md): kernels must be able to
// use the memory that the kind calls device memory. Most cases have not run on a GPU yet: run it on
// one.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

constexpr std::size_t bytes = 64;
__device__ char variable[bytes];

struct place {
  const char* name;
  bool kernels_may_use;
  char *to, *from;
};

void must(cudaError_t code) {
  if (code == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorName(code));
  std::exit(code == cudaErrorNoDevice || code == cudaErrorInsufficientDriver ? 77 : 1);
}

place places[5];
cudaArray_t array;
int differences = 0;

const char* name_of(int kind) {
  constexpr const char* names[] = {"HostToHost", "HostToDevice", "DeviceToHost", "DeviceToDevice",
                                   "Default"};
  return names[kind];
}
bool says_device_to(int kind) {
  return kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
}
bool says_device_from(int kind) {
  return kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
}

void print_result(const char* function, int kind, const char* to, const char* from,
                  cudaError_t found, cudaError_t by_rule) {
  cudaDeviceSynchronize();
  cudaGetLastError();
  std::printf("%s %s %s <- %s: %s", function, name_of(kind), to, from, cudaGetErrorName(found));
  if (found != by_rule) std::printf(", by the rule %s", cudaGetErrorName(by_rule));
  std::printf("\n");
  differences += found != by_rule;
}

using copy = std::function<cudaError_t(void* to, const void* from, cudaMemcpyKind kind)>;

void between_places(const char* function, const copy& call, int first = 0, int last = 4) {
  for (int kind = first; kind <= last; ++kind) {
    for (const place& to : places) {
      for (const place& from : places) {
        const bool sound = (!says_device_to(kind) || to.kernels_may_use) &&
                           (!says_device_from(kind) || from.kernels_may_use);
        const cudaError_t found = call(to.to, from.from, static_cast<cudaMemcpyKind>(kind));
        print_result(function, kind, to.name, from.name, found,
                     sound ? cudaSuccess : cudaErrorInvalidValue);
      }
    }
  }
}

// One end is always device memory: kinds that describe it as host memory are refused.
void with_fixed_end(const char* function, const char* end, bool is_to, const copy& call) {
  for (int kind = 0; kind <= 4; ++kind) {
    const bool is_default = kind == cudaMemcpyDefault;
    const bool fits = is_default || (is_to ? says_device_to(kind) : says_device_from(kind));
    for (const place& other : places) {
      const bool sound =
          other.kernels_may_use || !(is_to ? says_device_from(kind) : says_device_to(kind));
      const cudaError_t found = call(other.to, other.from, static_cast<cudaMemcpyKind>(kind));
      print_result(function, kind, is_to ? end : other.name, is_to ? other.name : end, found,
                   !fits   ? cudaErrorInvalidMemcpyDirection
                   : sound ? cudaSuccess
                           : cudaErrorInvalidValue);
    }
  }
}

cudaMemcpy3DParms box(void* to, const void* from, cudaMemcpyKind kind) {
  cudaMemcpy3DParms p = {};
  p.dstPtr = make_cudaPitchedPtr(to, 8, 8, 4);
  p.srcPtr = make_cudaPitchedPtr(const_cast<void*>(from), 8, 8, 4);
  p.extent = make_cudaExtent(8, 4, 2);
  p.kind = kind;
  return p;
}

cudaError_t by_node(void* to, const void* from, cudaMemcpyKind kind) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t node = nullptr;
  must(cudaGraphCreate(&graph, 0));
  const cudaError_t found =
      cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, to, from, bytes, kind);
  must(cudaGraphDestroy(graph));
  return found;
}

int main() {
  const auto fill = [](place& p, const char* name, bool kernels_may_use, const auto& allocate) {
    p = {name, kernels_may_use, nullptr, nullptr};
    must(allocate(&p.to));
    must(allocate(&p.from));
  };
  fill(places[0], "device", true, [](char** p) { return cudaMalloc(p, bytes); });
  fill(places[1], "pinned", true, [](char** p) { return cudaMallocHost(p, bytes); });
  fill(places[2], "managed", true, [](char** p) { return cudaMallocManaged(p, bytes); });
  const auto pageable = [](char** p) {
    *p = static_cast<char*>(std::aligned_alloc(4096, 4096));
    std::memset(*p, 1, 4096);
    return cudaSuccess;
  };
  fill(places[3], "pageable", false, pageable);
  fill(places[4], "registered", true, [&](char** p) {
    pageable(p);
    return cudaHostRegister(*p, 4096, cudaHostRegisterDefault);
  });
  const cudaChannelFormatDesc bytes_of_texels = cudaCreateChannelDesc<char>();
  must(cudaMallocArray(&array, &bytes_of_texels, 8, 8));
  for (const place& p : places) must(cudaMemcpy(p.from, places[3].from, bytes, cudaMemcpyDefault));
  must(cudaMemcpyToSymbol(variable, places[3].from, bytes));
  must(cudaMemcpy2DToArray(array, 0, 0, places[3].from, 8, 8, 8, cudaMemcpyHostToDevice));

  between_places("cudaMemcpy", [](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpy(to, from, bytes, kind);
  });
  between_places("cudaMemcpyAsync", [](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
  });
  between_places("cudaMemcpy2D", [](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpy2D(to, 8, from, 8, 8, 8, kind);
  });
  between_places("cudaMemcpy2DAsync", [](void* to, const void* from, cudaMemcpyKind kind) {
    return cudaMemcpy2DAsync(to, 8, from, 8, 8, 8, kind, nullptr);
  });
  between_places("cudaMemcpy3D", [](void* to, const void* from, cudaMemcpyKind kind) {
    const cudaMemcpy3DParms p = box(to, from, kind);
    return cudaMemcpy3D(&p);
  });
  between_places("cudaMemcpy3DAsync", [](void* to, const void* from, cudaMemcpyKind kind) {
    const cudaMemcpy3DParms p = box(to, from, kind);
    return cudaMemcpy3DAsync(&p, nullptr);
  });
  between_places("cudaGraphAddMemcpyNode1D", by_node);
  between_places(
      "cudaMemcpyPeer",
      [](void* to, const void* from, cudaMemcpyKind) {
        return cudaMemcpyPeer(to, 0, from, 0, bytes);
      },
      cudaMemcpyDeviceToDevice, cudaMemcpyDeviceToDevice);
  with_fixed_end("cudaMemcpyToSymbol", "symbol", true,
                 [](void*, const void* from, cudaMemcpyKind kind) {
                   return cudaMemcpyToSymbol(variable, from, bytes, 0, kind);
                 });
  with_fixed_end("cudaMemcpyFromSymbol", "symbol", false,
                 [](void* to, const void*, cudaMemcpyKind kind) {
                   return cudaMemcpyFromSymbol(to, variable, bytes, 0, kind);
                 });
  with_fixed_end("cudaMemcpy2DToArray", "array", true,
                 [](void*, const void* from, cudaMemcpyKind kind) {
                   return cudaMemcpy2DToArray(array, 0, 0, from, 8, 8, 8, kind);
                 });
  with_fixed_end("cudaMemcpy2DFromArray", "array", false,
                 [](void* to, const void*, cudaMemcpyKind kind) {
                   return cudaMemcpy2DFromArray(to, 8, array, 0, 0, 8, 8, kind);
                 });
  std::printf("%d answers differ from the rule\n", differences);
  return differences == 0 ? 0 : 1;
}
