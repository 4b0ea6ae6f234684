#pragma once

#include <set>
#include <string>
#include <string_view>

#include "hardware/device.h"

// The names of devices, and what people, drivers and profilers write for them.
namespace aaco::hardware::registry {

// Letter case and punctuation aside, and with the words that drivers add: "AMD Instinct MI300X VF" and "mi300x" stay two names,
// and aliases list both.
std::string fold(std::string_view name);
// The words of what was asked, without what a driver adds of its own accord: "Orin (nvgpu)".
std::set<std::string> asked_words(std::string_view name);
// Whether the id or one of the names has every one of the words.
bool has_words(const Device& device, const std::set<std::string>& asked);
// Whether one of the names stands in what was asked, word for word: "MI250X" and "MI250" in "AMD Instinct MI250X / MI250".
bool is_named_in(const Device& device, const std::set<std::string>& asked);
// Whether a word of the id or of an alias begins so: "mi300". Never for a beginning of a few letters.
bool begins_a_word(const Device& device, const std::string& beginning);

}  // namespace aaco::hardware::registry
