#include "core/checksum.h"

#include <array>
#include <cstring>

namespace aaco::core {
namespace {

constexpr std::uint32_t kPolynomial = 0x82f63b78;  // 0x1edc6f41 with its bits reversed

constexpr std::array<std::uint32_t, 256> remainders() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1U) != 0 ? kPolynomial : 0U);
    table[byte] = rest;
  }
  return table;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) std::uint32_t by_instruction(std::string_view bytes) {
  std::uint64_t rest = 0xffffffff;
  while (bytes.size() >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    rest = __builtin_ia32_crc32di(rest, word);
    bytes.remove_prefix(sizeof word);
  }
  auto last = static_cast<std::uint32_t>(rest);
  for (const char byte : bytes) last = __builtin_ia32_crc32qi(last, static_cast<unsigned char>(byte));
  return ~last;
}
#endif

}  // namespace

std::uint32_t crc32c_by_table(std::string_view bytes) {
  static constexpr std::array<std::uint32_t, 256> kTable = remainders();
  std::uint32_t rest = 0xffffffff;
  for (const char byte : bytes) rest = (rest >> 8) ^ kTable[(rest ^ static_cast<unsigned char>(byte)) & 0xffU];
  return ~rest;
}

std::uint32_t crc32c(std::string_view bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2") != 0) return by_instruction(bytes);
#endif
  return crc32c_by_table(bytes);
}

}  // namespace aaco::core
