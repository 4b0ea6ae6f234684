#pragma once

#include <memory>

#include "formats/compression.h"
#include "importers/file_source.h"

namespace aaco::importers {

// The decompressed bytes of `packed`, held to `limits`.
std::unique_ptr<trace::ByteSource> make_expanding_source(std::unique_ptr<trace::ByteSource> packed, formats::Compression kind,
                                                         const ExpansionLimits& limits);

}  // namespace aaco::importers
