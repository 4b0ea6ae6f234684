#pragma once

#include <string>

#include "core/json.h"

namespace aaco::workflows {

// The different devices that imported files name in their facts, by name: "AMD Instinct MI300X, ..."; empty: they name none.
std::string traced_devices(const core::Json& files);

// What an import read, for people: "worker0.pt.trace.json.gz and 2 more files, Tesla V100-DGXS-32GB". Empty without files.
std::string described_files(const core::Json& files);

}  // namespace aaco::workflows
