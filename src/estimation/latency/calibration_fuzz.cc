#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "estimation/calibrated.h"

// A calibration that is read can be written and read again, and estimates with it end.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace aaco;
  const auto document = core::Json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!document) return 0;
  auto calibration = estimation::calibration_from_json(*document);
  if (!calibration) return 0;
  if (!estimation::calibration_from_json(estimation::to_json(*calibration))) std::abort();
  estimation::DeviceFacts facts;
  facts.id = calibration->device;
  facts.flops_per_s = {{"bf16", 1e12}, {"fp32", 1e12}};
  facts.memory_bytes_per_s = 1e12;
  estimation::CalibrationSet set;
  set.add(*std::move(calibration), facts);
  for (const char* type : {"bf16", "fp32"}) {
    const estimation::Kernel kernel{estimation::GemmShape{1, 8, 8, 8}, type};
    (void)estimation::estimate(kernel, facts, &set);
    (void)estimation::energy_of(kernel, facts, 1e-3, set);
  }
  return 0;
}
