#include "stats/boosted_trees/base64.h"

#include <array>
#include <cstdint>

namespace aaco::stats {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> values_of_letters() {
  std::array<std::int8_t, 256> values{};
  values.fill(-1);
  for (std::size_t i = 0; i < kLetters.size(); ++i) values[static_cast<unsigned char>(kLetters[i])] = static_cast<std::int8_t>(i);
  return values;
}
constexpr auto kValues = values_of_letters();

}  // namespace

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t j = 0; j < 3; ++j)
      group = group << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    for (std::size_t j = 0; j < 4; ++j) text += i + j <= bytes.size() ? kLetters[group >> (18 - 6 * j) & 63U] : '=';
  }
  return text;
}

core::Result<std::string> from_base64(std::string_view text) {
  const auto damaged = [] { return core::fail(core::ErrorCode::invalid_input, "invalid base64 data"); };
  if (text.size() % 4 != 0) return damaged();
  std::size_t padding = 0;
  while (padding < 2 && padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pad = i >= text.size() - padding;
    const int value = pad ? 0 : kValues[static_cast<unsigned char>(text[i])];
    if (value < 0) return damaged();
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (i % 4 != 3) continue;
    for (int shift = 16; shift >= 0; shift -= 8) bytes += static_cast<char>(group >> shift & 255U);
    group = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace aaco::stats
