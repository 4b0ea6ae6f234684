#pragma once

#include <string_view>

#include "hardware/registry.h"
#include "tests/support/source_dir.h"

// For tests: the hardware registry as it is shipped, whatever this machine's user has added to it.
namespace aaco::hardware {

inline const DeviceRegistry& shipped_registry() {
  static const DeviceRegistry loaded = [] {
    core::Paths paths;
    paths.share = AACO_SOURCE_DIR;
    paths.registry = "/nonexistent";
    return DeviceRegistry::load(paths).value();
  }();
  return loaded;
}

inline Device shipped_device(std::string_view name) { return shipped_registry().find(name).value(); }

}  // namespace aaco::hardware
