#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace aaco::collectors::kmod {

// GPU memory of one or more processes, bytes by "DEVICE REGION" ("0000:c1:00.0 vram"). The device is the PCI address; the
// driver's name for devices that are not on PCI.
using GpuMemory = std::map<std::string, double>;

// Adds up fdinfo texts of DRM files (format: the kernel's Documentation/gpu/drm-usage-stats.rst), separated by empty lines. A
// client (drm-client-id) that several files share counts once. drm-resident-REGION is preferred to its older name
// drm-memory-REGION.
class DrmText {
 public:
  // False: the text has no memory in it, because it is not of a DRM file or its driver does not say.
  bool add(std::string_view text);
  [[nodiscard]] const GpuMemory& memory() const { return memory_; }

 private:
  bool add_file(std::string_view text);
  std::map<std::string, bool> seen_;  // "DEVICE client"
  GpuMemory memory_;
};

}  // namespace aaco::collectors::kmod
