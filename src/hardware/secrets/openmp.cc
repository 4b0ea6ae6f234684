#include "hardware/secrets/openmp.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "core/strings.h"
#include "hardware/secrets/characters.h"

namespace aaco::hardware::secrets {
namespace {

constexpr std::string_view kKeyWords[] = {
    "true",         "false",          "verbose",  "yes",           "no",         "on",          "off",       "active",
    "passive",      "static",         "dynamic",  "guided",        "auto",       "runtime",     "monotonic", "nonmonotonic",
    "primary",      "master",         "close",    "spread",        "threads",    "cores",       "sockets",   "ll_caches",
    "numa_domains", "enabled",        "disabled", "mandatory",     "default",    "all",         "sync_hint", "alignment",
    "access",       "pool_size",      "fallback", "fb_data",       "pinned",     "partition",   "contended", "uncontended",
    "private",      "serialized",     "cgroup",   "pteam",         "thread",     "environment", "nearest",   "blocked",
    "interleaved",  "device",         "host",     "target_device", "cur_device", "memspace",    "null_fb",   "abort_fb",
    "allocator_fb", "default_mem_fb", "unlimited"};
constexpr std::string_view kFreeText[] = {"FORMAT", "LIBRARIES", "DEVICES", "DEVICE", "INIT"};

bool is_key_word(std::string_view word) {
  return word.starts_with("omp_") || std::find(std::begin(kKeyWords), std::end(kKeyWords), word) != std::end(kKeyWords);
}
// "8", "512k", "2GB"; "2 GB" is two words.
bool is_quantity(std::string_view word) {
  const auto unit = std::find_if_not(word.begin(), word.end(), is_digit);
  constexpr std::ptrdiff_t kLongestUnit = 2;
  return word.end() - unit <= kLongestUnit &&
         std::all_of(unit, word.end(), [](char c) { return std::string_view("bkmgt").find(c) != std::string_view::npos; });
}

}  // namespace

bool may_be_openmp_setting(std::string_view name, std::string_view value) {
  if (std::any_of(std::begin(kFreeText), std::end(kFreeText), [&](std::string_view end) { return name.ends_with(end); }))
    return true;
  const std::string lower = core::to_lower(value);
  for (auto begin = lower.begin(); begin != lower.end();) {
    const auto in_word = [](char c) { return is_alnum(c) || c == '_'; };
    const auto end = std::find_if_not(begin, lower.end(), in_word);
    const std::string_view word(begin, end);
    if (!word.empty() && !is_quantity(word) && !is_key_word(word)) return false;
    begin = end == lower.end() ? end : end + 1;
  }
  return true;
}

}  // namespace aaco::hardware::secrets
