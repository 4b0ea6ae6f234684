#include "hardware/registry/names.h"

#include <algorithm>

#include "core/strings.h"

namespace aaco::hardware::registry {
namespace {

constexpr std::size_t kMinBeginning = 4;  // "mi300", and not "a1"

// "nvidia_a100_sxm4_80gb" -> {"nvidia", "a100", "sxm4", "80gb"}
std::set<std::string> words_of(std::string_view name) {
  std::set<std::string> words;
  std::string word;
  for (const char letter : core::to_lower(name) + " ") {
    if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9')) {
      word += letter;
    } else if (!word.empty()) {
      words.insert(word);
      word.clear();
    }
  }
  return words;
}

}  // namespace

std::string fold(std::string_view name) {
  std::string folded;
  for (const char letter : core::to_lower(name))
    if ((letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '@') folded += letter;
  return folded;
}

bool has_words(const Device& device, const std::set<std::string>& asked) {
  const auto has = [&](std::string_view name) {
    const std::set<std::string> words = words_of(name);
    return std::includes(words.begin(), words.end(), asked.begin(), asked.end());
  };
  return has(device.id) || has(device.name) || std::any_of(device.aliases.begin(), device.aliases.end(), has);
}

bool is_named_in(const Device& device, const std::set<std::string>& asked) {
  const auto stands = [&](std::string_view name) {
    const std::set<std::string> words = words_of(name);
    return !words.empty() && std::includes(asked.begin(), asked.end(), words.begin(), words.end());
  };
  return stands(device.name) || std::any_of(device.aliases.begin(), device.aliases.end(), stands);
}

bool begins_a_word(const Device& device, const std::string& beginning) {
  if (beginning.size() < kMinBeginning) return false;
  const auto begins = [&](std::string_view name) {
    const std::set<std::string> words = words_of(name);
    const auto place = words.lower_bound(beginning);
    return place != words.end() && place->starts_with(beginning);
  };
  return begins(device.id) || std::any_of(device.aliases.begin(), device.aliases.end(), begins);
}

std::set<std::string> asked_words(std::string_view name) {
  std::set<std::string> words = words_of(name);
  if (words.size() > 1) words.erase("nvgpu");
  return words;
}

}  // namespace aaco::hardware::registry
