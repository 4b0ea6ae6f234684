#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "workflows/measurement_files.h"

// Whatever a table holds: an error or rows with a positive time and possible shapes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  static const hardware::DeviceRegistry kRegistry = [] {
    hardware::Device device;
    device.id = "acme_one";
    return *hardware::DeviceRegistry::of({device});
  }();
  workflows::MeasurementFiles files;
  if (!workflows::read_measurements(std::string_view(reinterpret_cast<const char*>(data), size), "t.csv", kRegistry, files))
    return 0;
  for (const auto& [id, rows] : files.devices) {
    for (const auto& row : rows.kernels)
      if (!(row.seconds > 0) || !estimation::work_of(row.kernel)) std::abort();
    for (const auto& run : rows.models)
      if (!(run.seconds > 0) || run.batch < 1) std::abort();
  }
  return 0;
}
