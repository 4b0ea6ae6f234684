#pragma once

#include <memory>

#include "importers/importer.h"

namespace aaco::importers::smi {

// Logs of amd-smi, rocm-smi and nvidia-smi as text, JSON or CSV: telemetry of GPUs. Times are CLOCK_REALTIME where the log stamps
// its readings (times without a zone are taken as UTC); a log without times counts its readings, one second apart, and says so.
std::unique_ptr<Importer> make_importer();

}  // namespace aaco::importers::smi
