#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"

namespace aaco::importers {

// What a file that no importer knows is all the same, by its first bytes and its name (archives, profilers' own containers,
// tables whose columns something else than a comma parts), and how to make one of it that can be imported. Empty: not known
// either.
std::optional<core::Error> foreign_format(std::string_view head, const std::string& path);

}  // namespace aaco::importers
