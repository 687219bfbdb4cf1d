// source  cuda_device_runtime_api.h of CUDA 13.0, "CDP2 endpoints".
//         Tested by common/runtime/conformance/nested.
#include "common/emulator/lower/runtime_forms.hpp"

#include <map>

namespace stepwise::emulator {

const runtime_form* find_runtime_form(std::string_view name) {
  using f = runtime_function;
  static const std::map<std::string_view, runtime_form> forms = {
      {"DeviceGetAttribute", {f::get_attribute, {8, 4, 4}}},
      {"DeviceGetLimit", {f::get_limit, {8, 4}}},
      {"DeviceGetCacheConfig", {f::get_cache_config, {8}}},
      {"DeviceGetSharedMemConfig", {f::get_shared_config, {8}}},
      {"GetLastError", {f::get_last_error, {}}},
      {"PeekAtLastError", {f::peek_at_last_error, {}}},
      {"GetErrorString", {f::get_error_string, {4}, 8}},
      {"GetErrorName", {f::get_error_name, {4}, 8}},
      {"GetDeviceCount", {f::get_device_count, {8}}},
      {"GetDevice", {f::get_device, {8}}},
      {"StreamCreateWithFlags", {f::create_stream, {8, 4}}},
      {"StreamDestroy", {f::destroy_stream, {8}}},
      {"StreamWaitEvent", {f::wait_event, {8, 8, 4}}},
      {"EventCreateWithFlags", {f::create_event, {8, 4}}},
      {"EventRecord", {f::record_event, {8, 8}}},
      {"EventRecordWithFlags", {f::record_event, {8, 8, 4}}},
      {"EventDestroy", {f::destroy_event, {8}}},
      {"FuncGetAttributes", {f::get_function_attributes, {8, 8}}},
      {"Free", {f::free, {8}}},
      {"Malloc", {f::malloc, {8, 8}}},
      {"MemcpyAsync", {f::copy, {8, 8, 8, 4, 8}}},
      {"Memcpy2DAsync", {f::copy_2d, {8, 8, 8, 8, 8, 8, 4, 8}}},
      {"Memcpy3DAsync", {f::copy_3d, {8, 8}}},
      {"MemsetAsync", {f::fill, {8, 4, 8, 8}}},
      {"Memset2DAsync", {f::fill_2d, {8, 8, 4, 8, 8, 8}}},
      {"Memset3DAsync", {f::fill_3d, {32, 4, 24, 8}}},
      {"RuntimeGetVersion", {f::get_version, {8}}},
      {"GetParameterBuffer", {f::get_buffer, {8, 8}, 8}},
      {"GetParameterBufferV2", {f::get_buffer_for, {8, 12, 12, 4}, 8}},
      {"LaunchDevice", {f::launch, {8, 8, 12, 12, 4, 8}}},
      {"LaunchDeviceV2", {f::launch_buffer, {8, 8}}},
      {"OccupancyMaxActiveBlocksPerMultiprocessor", {f::get_occupancy, {8, 8, 4, 8}}},
      {"OccupancyMaxActiveBlocksPerMultiprocessorWithFlags", {f::get_occupancy, {8, 8, 4, 8, 4}}},
  };
  constexpr std::string_view prefix = "__cudaCDP2", per_thread = "_ptsz";
  if (!name.starts_with(prefix)) return nullptr;
  name.remove_prefix(prefix.size());
  if (name.ends_with(per_thread)) name.remove_suffix(per_thread.size());
  const auto found = forms.find(name);
  return found == forms.end() ? nullptr : &found->second;
}

}  // namespace stepwise::emulator
