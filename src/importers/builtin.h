#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "importers/importer.h"

namespace aaco::importers {

// All built-in importers in sniffing order: specific formats before general ones.
std::vector<std::unique_ptr<Importer>> builtin_importers();

// The first importer that recognises the bytes (decompressed, as returned by read_head), or null.
const Importer* find_importer(const std::vector<std::unique_ptr<Importer>>& importers, std::string_view head,
                              std::string_view file_name);

// Imports, then checks whether the source was damaged; if so, the account is partial, with a warning.
core::Result<ImportResult> import_source(const Importer& importer, trace::ByteSource& source, trace::Sink& sink);

}  // namespace aaco::importers
