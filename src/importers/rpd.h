#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "importers/importer.h"

namespace aaco::importers::rpd {

// Databases of rocmProfileData (RPD, schemas 1 and 2): API calls, kernels, copies and memsets joined by rocpd_api_ops, roctx
// ranges and sampled monitors. Times are ns on the traced machine's clock; the "top" view of the file shows microseconds.
std::unique_ptr<Importer> make_importer();

// Whether a JSON trace starting with `head` was converted from the plain database at `path` by the profiler's conversion tool: it
// has the same work in whole microseconds. Detected from the form of its events and the time of the first one.
bool is_export_of(std::string_view head, const std::string& path);

}  // namespace aaco::importers::rpd
