#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "importers/importer.h"

namespace aaco::importers {

// Every importer there is, in the order in which they are asked: narrow formats before general ones.
std::vector<std::unique_ptr<Importer>> builtin_importers();

// The first that knows the bytes (decompressed, as read_head gives them), or null.
const Importer* find_importer(const std::vector<std::unique_ptr<Importer>>& importers, std::string_view head,
                              std::string_view file_name);

// Imports, and then looks whether the source itself was damaged: the account becomes partial, with a warning.
core::Result<ImportResult> import_source(const Importer& importer, trace::ByteSource& source, trace::Sink& sink);

}  // namespace aaco::importers
