#pragma once

#include <memory>

#include "formats/compression.h"

namespace aaco::formats {

std::unique_ptr<Decompressor> make_gzip_decompressor();
std::unique_ptr<Decompressor> make_zstd_decompressor();

}  // namespace aaco::formats
