#pragma once

#include <memory>
#include <string>

#include "core/result.h"
#include "trace/source.h"

namespace aaco::importers {

// A plain file as a source.
core::Result<std::unique_ptr<trace::ByteSource>> open_file_source(const std::string& path);

}  // namespace aaco::importers
