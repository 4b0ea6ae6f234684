#include "collectors/ebpf/memory_map.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "core/strings.h"

namespace aaco::collectors::ebpf {
namespace {

std::optional<std::uint64_t> hex(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The next word of a line; what is left begins behind it.
std::string_view take_word(std::string_view& line) {
  line = core::trim(line);
  const std::string_view word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::vector<Mapping> parse_maps(std::string_view text) {
  std::vector<Mapping> maps;
  for (std::string_view line : core::split_lines(text)) {
    const std::string_view range = take_word(line), rights = take_word(line), offset = take_word(line);
    take_word(line);  // device
    take_word(line);  // inode
    const auto dash = range.find('-');
    if (dash == std::string_view::npos || rights.size() < 3 || rights[2] != 'x') continue;
    const auto begin = hex(range.substr(0, dash)), end = hex(range.substr(dash + 1)), at = hex(offset);
    if (begin && end && at && *begin < *end) maps.push_back({*begin, *end, *at, std::string(core::trim(line))});
  }
  std::sort(maps.begin(), maps.end(), [](const Mapping& a, const Mapping& b) { return a.begin < b.begin; });
  return maps;
}

const Mapping* mapping_of(const std::vector<Mapping>& maps, std::uint64_t address) {
  const auto next = std::upper_bound(maps.begin(), maps.end(), address,
                                     [](std::uint64_t value, const Mapping& one) { return value < one.begin; });
  if (next == maps.begin()) return nullptr;
  const Mapping& found = *std::prev(next);
  return address < found.end ? &found : nullptr;
}

}  // namespace aaco::collectors::ebpf
