#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

// Cuts text into words before the merges: the regular expressions of GPT-2 and of the models after it, by hand.
namespace aaco::serving {

// The length of the character at the start of the text, 1 where it is no UTF-8.
std::size_t character_length(std::string_view text);

struct SplitPattern {
  bool modern = false;         // cl100k and its kin: a letter run takes one character before it, newlines are words
  std::size_t max_digits = 0;  // digits of one word; 0: no bound
};
// The pattern of this regular expression; empty for one that is not known.
std::optional<SplitPattern> known_pattern(std::string_view regex);
// Words in their order; together they are the text.
std::vector<std::string_view> split_words_by(const SplitPattern& pattern, std::string_view text);

// GPT-2's printable stand-in for each byte.
std::string byte_level(std::string_view bytes);

}  // namespace aaco::serving
