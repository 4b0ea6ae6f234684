#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::importers {

// Identifies a file that no importer knows by its first bytes and its name (archives, native profiler reports,
// tables with other separators than commas), and tells how to convert it into an importable file. Empty: unknown
// format.
std::optional<core::Error> foreign_format(std::string_view head, const std::string& path);

}  // namespace aaco::importers
