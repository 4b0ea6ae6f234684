#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tracelake/archive/tar.h"

namespace {

namespace archive = aaco::tracelake::archive;

// What the reader lets through must be safe to unpack, and never more than the archive has.
void check_member(const archive::TarMember& member, std::size_t archive_size) {
  if (!archive::check_member_name(member.name) || member.size < 0) __builtin_trap();
  if (member.name.size() > archive_size) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view left(reinterpret_cast<const char*>(data), size);
  archive::TarReader reader([&](std::span<char> into) -> aaco::core::Result<std::size_t> {
    const std::size_t count = std::min(into.size(), left.size());
    std::memcpy(into.data(), left.data(), count);
    left.remove_prefix(count);
    return count;
  });
  std::array<char, 700> piece;
  std::size_t unpacked = 0;
  for (int members = 0;; ++members) {
    const auto member = reader.next();
    if (!member || !*member) break;
    check_member(**member, size);
    if (members % 3 == 0) continue;  // the next call skips it
    for (;;) {
      const auto count = reader.read(piece);
      if (!count || *count == 0) break;
      unpacked += *count;
    }
    if (unpacked > size) __builtin_trap();
  }
  return 0;
}
