#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::smi {

// Logs of amd-smi, rocm-smi and nvidia-smi as text, JSON or CSV: GPU telemetry. Times are CLOCK_REALTIME if the log timestamps
// its readings (times without a zone are taken as UTC); readings without times are assumed one second apart, with a warning.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::smi
