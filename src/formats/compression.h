#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "core/result.h"

namespace aaco::formats {

enum class Compression { none, gzip, zstd };

std::string_view to_string(Compression kind);

// By the magic number at the front; `none` for a text of fewer than four bytes.
Compression detect_compression(std::string_view head);

struct DecodeStep {
  std::size_t consumed = 0;  // bytes of the input used up
  std::size_t produced = 0;  // bytes written to the output
  bool at_boundary = false;  // everything begun so far is whole: the input may end here
};

// Decodes a stream piece by piece. Several gzip members or zstd frames behind each other are one stream; zero bytes behind the
// last gzip member are padding. Memory is bounded by the format's window (zstd frames that want more than 128 MiB are refused).
class Decompressor {
 public:
  virtual ~Decompressor() = default;
  // Fails with invalid_input where the bytes are damaged; what was produced by earlier steps stands.
  virtual core::Result<DecodeStep> step(std::span<const char> input, std::span<char> output) = 0;
};

// `kind` is not none.
std::unique_ptr<Decompressor> make_decompressor(Compression kind);

}  // namespace aaco::formats
