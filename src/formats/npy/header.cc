#include "formats/npy/header.h"

#include <optional>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::formats::npy {
namespace {

using core::ErrorCode;
using core::fail;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeaderBytes = 1 << 20;
constexpr std::size_t kMaxDimensions = 64;

tl::unexpected<core::Error> damaged(std::string what) {
  return fail(ErrorCode::invalid_input, "the .npy file is damaged: " + std::move(what), "save it again with numpy.save");
}

// The text of a key's value in the header's dictionary: up to the comma that ends it, brackets and quotes respected.
std::optional<std::string_view> value_of(std::string_view dictionary, std::string_view key) {
  for (const char quote : {'\'', '"'}) {
    const std::string quoted = quote + std::string(key) + quote;
    const std::size_t found = dictionary.find(quoted);
    if (found == std::string_view::npos) continue;
    std::string_view rest = core::trim(dictionary.substr(found + quoted.size()));
    if (rest.empty() || rest.front() != ':') return std::nullopt;
    rest.remove_prefix(1);
    int depth = 0;
    for (std::size_t at = 0; at < rest.size(); ++at) {
      if (rest[at] == '(' || rest[at] == '[') ++depth;
      if (depth == 0 && (rest[at] == ',' || rest[at] == '}')) return core::trim(rest.substr(0, at));
      if (rest[at] == ')' || rest[at] == ']') --depth;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

core::Status read_format(std::string_view text, Header& header) {
  if (text.size() >= 2 && (text.front() == '\'' || text.front() == '"') && text.back() == text.front())
    text = text.substr(1, text.size() - 2);
  else
    return fail(ErrorCode::unsupported,
                "the array has structured records, not plain numbers (descr " + std::string(text.substr(0, 80)) + ")",
                "save one plain array per file");
  if (text.size() >= 2 && text[1] == 'O')
    return fail(ErrorCode::unsupported, "the array contains Python objects, which are not supported",
                "save it with a number type, e.g. numpy.float32");
  if (text.size() < 3) return damaged("invalid element type '" + std::string(text) + "'");
  const char order = text[0], kind = text[1];
  const auto bytes = core::parse_i64(text.substr(2));
  const bool known_kind = std::string_view("fiubcV").find(kind) != std::string_view::npos;
  if (!known_kind || !bytes)
    return fail(ErrorCode::unsupported, "the array's element type '" + std::string(text) + "' is not numeric",
                "save it with a number type, e.g. numpy.float32");
  const bool size_fits = *bytes == 1 || *bytes == 2 || *bytes == 4 || *bytes == 8 || (kind == 'c' && *bytes == 16);
  if (!size_fits || std::string_view("<>|=").find(order) == std::string_view::npos)
    return fail(ErrorCode::unsupported, "the array's element type '" + std::string(text) + "' is not supported as a model input");
  header.format = {kind, *bytes};
  header.big_endian = order == '>' && *bytes > 1;
  return {};
}

core::Status read_shape(std::string_view text, Header& header) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return damaged("invalid shape '" + std::string(text.substr(0, 80)) + "'");
  for (std::string_view part : core::split(text.substr(1, text.size() - 2), ',')) {
    part = core::trim(part);
    if (part.empty()) continue;
    if (part.back() == 'L') part.remove_suffix(1);  // written by Python 2
    const auto size = core::parse_i64(part);
    if (!size || *size < 0) return damaged("invalid dimension '" + std::string(part.substr(0, 40)) + "'");
    header.shape.push_back(*size);
    if (header.shape.size() > kMaxDimensions)
      return damaged("it has more than " + std::to_string(kMaxDimensions) + " dimensions");
  }
  return {};
}

}  // namespace

core::Result<Header> parse_header(std::string_view file) {
  if (!file.starts_with(kMagic))
    return fail(ErrorCode::invalid_input, "not a .npy file (wrong magic bytes)", "save it with numpy.save");
  if (file.size() < 12) return damaged("it ends inside the header");
  const auto byte = [&](std::size_t at) { return static_cast<std::size_t>(static_cast<std::uint8_t>(file[at])); };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3)
    return fail(ErrorCode::unsupported, "unsupported .npy version " + std::to_string(version) + " (supported: 1 to 3)");
  const std::size_t start = version == 1 ? 10 : 12;
  std::size_t length = byte(8) | byte(9) << 8;
  if (version > 1) length |= byte(10) << 16 | byte(11) << 24;
  if (length > kMaxHeaderBytes || length > file.size() - start) return damaged("it ends inside the header");
  const std::string_view dictionary = file.substr(start, length);
  const auto descr = value_of(dictionary, "descr"), order = value_of(dictionary, "fortran_order"),
             shape = value_of(dictionary, "shape");
  if (!descr || !order || !shape) return damaged("the header lacks descr, fortran_order or shape");
  Header header;
  AACO_TRY(read_format(*descr, header));
  AACO_TRY(read_shape(*shape, header));
  if (*order != "True" && *order != "False") return damaged("invalid fortran_order '" + std::string(order->substr(0, 40)) + "'");
  header.fortran_order = *order == "True";
  header.data_offset = start + length;
  return header;
}

}  // namespace aaco::formats::npy
