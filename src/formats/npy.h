#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// NumPy's .npy and .npz files (NumPy Enhancement Proposal 1, versions 1.0 to 3.0 of the format).
namespace aaco::formats::npy {

// What an element is: NumPy's kind and its bytes. Raw ('V') is how bfloat16 arrays are stored.
struct ElementFormat {
  char kind = 0;  // f i u b c V
  std::int64_t bytes = 0;
  bool operator==(const ElementFormat&) const = default;
};

struct Array {
  std::string name;  // member of an .npz without ".npy"; empty for an .npy
  ElementFormat format;
  std::vector<std::int64_t> shape;
  std::vector<std::byte> data;  // dense, row-major, little-endian, whatever the file had
};

// Fails with invalid_input on damage, unsupported for Python objects, records, texts and times.
core::Result<Array> parse_npy(std::string_view file);
// All arrays of an .npz; together at most `limit_bytes` unpacked.
core::Result<std::vector<Array>> parse_npz(std::string_view file, std::int64_t limit_bytes);

}  // namespace aaco::formats::npy
