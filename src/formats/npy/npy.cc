#include "formats/npy.h"

#include <algorithm>
#include <cstring>

#include "formats/npy/header.h"
#include "formats/zip.h"

namespace aaco::formats::npy {
namespace {

using core::ErrorCode;
using core::fail;

void swap_bytes(std::vector<std::byte>& data, const ElementFormat& format) {
  const auto width = static_cast<std::size_t>(format.kind == 'c' ? format.bytes / 2 : format.bytes);
  for (std::size_t at = 0; at + width <= data.size(); at += width)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at), data.begin() + static_cast<std::ptrdiff_t>(at + width));
}

// Column-major to row-major: walks the output in order with an odometer over the shape.
std::vector<std::byte> to_row_major(const std::byte* from, const std::vector<std::int64_t>& shape, std::size_t width,
                                    std::size_t count) {
  std::vector<std::size_t> strides(shape.size(), 1), at(shape.size(), 0);
  for (std::size_t dim = 1; dim < shape.size(); ++dim) strides[dim] = strides[dim - 1] * static_cast<std::size_t>(shape[dim - 1]);
  std::vector<std::byte> out(count * width);
  std::size_t source = 0;
  for (std::size_t element = 0; element < count; ++element) {
    std::memcpy(out.data() + element * width, from + source * width, width);
    for (std::size_t dim = shape.size(); dim-- > 0;) {
      source += strides[dim];
      if (++at[dim] < static_cast<std::size_t>(shape[dim])) break;
      source -= strides[dim] * at[dim];
      at[dim] = 0;
    }
  }
  return out;
}

}  // namespace

core::Result<Array> parse_npy(std::string_view file) {
  AACO_ASSIGN(const Header header, parse_header(file));
  std::int64_t bytes = header.format.bytes;
  for (const std::int64_t size : header.shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      return fail(ErrorCode::invalid_input, "the size implied by the array's shape overflows 64 bits");
  const std::string_view data = file.substr(header.data_offset);
  if (static_cast<std::int64_t>(data.size()) != bytes)
    return fail(
        ErrorCode::invalid_input,
        "the array has " + std::to_string(data.size()) + " bytes of data, but its shape requires " + std::to_string(bytes),
        "the file is truncated or was not written by numpy.save");
  Array array;
  array.format = header.format;
  array.shape = header.shape;
  const auto* begin = reinterpret_cast<const std::byte*>(data.data());
  const auto width = static_cast<std::size_t>(header.format.bytes);
  if (header.fortran_order && header.shape.size() > 1)
    array.data = to_row_major(begin, header.shape, width, data.size() / width);
  else
    array.data.assign(begin, begin + data.size());
  if (header.big_endian) swap_bytes(array.data, header.format);
  return array;
}

core::Result<std::vector<Array>> parse_npz(std::string_view file, std::int64_t limit_bytes) {
  AACO_ASSIGN(const std::vector<zip::Entry> entries, zip::list(file));
  std::vector<Array> arrays;
  for (const zip::Entry& entry : entries) {
    if (!entry.name.ends_with(".npy")) continue;
    AACO_ASSIGN(const std::string content, zip::extract(file, entry, limit_bytes));
    limit_bytes -= static_cast<std::int64_t>(content.size());
    auto array = parse_npy(content);
    if (!array) return tl::unexpected<core::Error>(std::move(array.error()).with("'" + entry.name + "'"));
    array->name = entry.name.substr(0, entry.name.size() - 4);
    arrays.push_back(std::move(*array));
  }
  if (arrays.empty()) return fail(ErrorCode::invalid_input, "the archive has no .npy member", "save it with numpy.savez");
  return arrays;
}

}  // namespace aaco::formats::npy
