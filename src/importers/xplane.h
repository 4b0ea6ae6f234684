#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::xplane {

// XSpace files of the XLA profiler (JAX, TensorFlow): *.xplane.pb. A plane is held in memory, for its names come behind its
// events; planes above kMaxPlaneBytes are skipped with a warning (protobuf itself allows 2 GiB).
inline constexpr std::size_t kMaxPlaneBytes = std::size_t{1} << 30;
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::xplane
