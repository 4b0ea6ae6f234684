#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::rpd {

// Databases of rocmProfileData (RPD, schemas 1 and 2): API calls, kernels, copies and memsets joined by rocpd_api_ops, roctx
// ranges and sampled monitors. Times are ns on the traced machine's clock; the file's own "top" view shows microseconds.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::rpd
