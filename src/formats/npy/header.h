#pragma once

#include <string_view>

#include "formats/npy.h"

namespace aaco::formats::npy {

// What the text before the data says.
struct Header {
  ElementFormat format;
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
  std::size_t data_offset = 0;  // in the file
};

core::Result<Header> parse_header(std::string_view file);

}  // namespace aaco::formats::npy
