#include "serving/tokenizer/splitter.h"

#include <algorithm>
#include <array>

namespace aaco::serving {
namespace {

enum class Class : std::uint8_t { letter, digit, space, newline, other };

std::uint32_t code_point(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  switch (character_length(text)) {
    case 2: return (byte(0) & 0x1fU) << 6 | (byte(1) & 0x3fU);
    case 3: return (byte(0) & 0x0fU) << 12 | (byte(1) & 0x3fU) << 6 | (byte(2) & 0x3fU);
    case 4: return (byte(0) & 0x07U) << 18 | (byte(1) & 0x3fU) << 12 | (byte(2) & 0x3fU) << 6 | (byte(3) & 0x3fU);
    default: return byte(0) < 0x80 ? byte(0) : 0xfffd;  // not UTF-8
  }
}

struct Range {
  std::uint32_t first, last;
};
// Blocks beyond Latin-1 in which characters are no letters: punctuation, symbols, arrows, box drawing, emoji, private use. A
// letter is what is in none of them; a symbol within a block of letters counts as one.
constexpr std::array<Range, 12> kSymbols = {{{0x2010, 0x206f},
                                             {0x20a0, 0x20cf},
                                             {0x2190, 0x245f},
                                             {0x24b6, 0x2bff},
                                             {0x2e00, 0x2e7f},
                                             {0x3001, 0x3004},
                                             {0x3008, 0x3020},
                                             {0xe000, 0xf8ff},
                                             {0xfe10, 0xfe6f},
                                             {0xff01, 0xff0f},
                                             {0xfff9, 0xffff},
                                             {0x1f000, 0x1faff}}};
constexpr std::array<Range, 8> kDigits = {{{0x660, 0x669},
                                           {0x6f0, 0x6f9},
                                           {0x966, 0x96f},
                                           {0x2070, 0x2089},
                                           {0x2150, 0x218b},
                                           {0x2460, 0x249b},
                                           {0x3021, 0x3029},
                                           {0xff10, 0xff19}}};

template <std::size_t N>
bool within(std::uint32_t code, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) { return code >= range.first && code <= range.last; });
}

Class class_of(std::uint32_t code) {
  if (code == '\n' || code == '\r') return Class::newline;
  if (code == ' ' || (code >= 9 && code <= 13) || code == 0x85 || code == 0xa0 || code == 0x1680 ||
      (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f || code == 0x205f ||
      code == 0x3000)
    return Class::space;
  if (code >= '0' && code <= '9') return Class::digit;
  if ((code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z')) return Class::letter;
  if (code < 0xaa) return Class::other;
  if (code < 0x100) {
    if (code == 0xb2 || code == 0xb3 || code == 0xb9 || (code >= 0xbc && code <= 0xbe)) return Class::digit;
    return code == 0xaa || code == 0xb5 || code == 0xba || (code >= 0xc0 && code != 0xd7 && code != 0xf7) ? Class::letter
                                                                                                          : Class::other;
  }
  if (within(code, kDigits)) return Class::digit;
  return within(code, kSymbols) ? Class::other : Class::letter;
}

struct Character {
  std::size_t at = 0;
  Class kind = Class::other;
  std::uint32_t code = 0;
};

class Words {
 public:
  Words(const SplitPattern& pattern, std::string_view text) : pattern_(pattern), text_(text) {
    for (std::size_t at = 0; at < text.size(); at += character_length(text.substr(at))) {
      const std::uint32_t code = code_point(text.substr(at));
      characters_.push_back({at, class_of(code), code});
    }
  }
  std::vector<std::string_view> all() {
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < characters_.size();) {
      const std::size_t end = end_of_word(i);
      words.push_back(text_.substr(place(i), place(end) - place(i)));
      i = end;
    }
    return words;
  }

 private:
  [[nodiscard]] std::size_t place(std::size_t i) const { return i < characters_.size() ? characters_[i].at : text_.size(); }
  [[nodiscard]] bool is(std::size_t i, Class kind) const { return i < characters_.size() && characters_[i].kind == kind; }
  [[nodiscard]] bool is_space(std::size_t i) const { return is(i, Class::space) || is(i, Class::newline); }
  [[nodiscard]] std::size_t run(std::size_t i, Class kind, std::size_t most = SIZE_MAX) const {
    while (most > 0 && is(i, kind)) {
      ++i;
      --most;
    }
    return i;
  }
  // 's 't 're 've 'm 'll 'd
  [[nodiscard]] std::size_t contraction(std::size_t i) const {
    if (characters_[i].code != '\'') return i;
    for (const std::string_view ending : {"re", "ve", "ll", "s", "t", "m", "d"}) {
      bool same = i + ending.size() < characters_.size();
      for (std::size_t k = 0; same && k < ending.size(); ++k) {
        std::uint32_t code = characters_[i + 1 + k].code;
        if (pattern_.modern && code >= 'A' && code <= 'Z') code += 'a' - 'A';
        same = code == static_cast<std::uint32_t>(ending[k]);
      }
      if (same) return i + 1 + ending.size();
    }
    return i;
  }
  [[nodiscard]] std::size_t end_of_word(std::size_t i) const {
    if (const std::size_t end = contraction(i); end > i) return end;
    const std::size_t after_space = characters_[i].code == ' ' ? i + 1 : i;
    if (pattern_.modern) {
      // [^\r\n\p{L}\p{N}]?\p{L}+
      const bool leads = !is(i, Class::newline) && !is(i, Class::letter) && !is(i, Class::digit);
      const std::size_t letters = leads ? i + 1 : i;
      if (is(letters, Class::letter)) return run(letters, Class::letter);
      if (is(i, Class::digit)) return run(i, Class::digit, pattern_.max_digits == 0 ? SIZE_MAX : pattern_.max_digits);
      if (is(after_space, Class::other)) return run(run(after_space, Class::other), Class::newline);
      return spaces(i);
    }
    for (const Class kind : {Class::letter, Class::digit, Class::other})
      if (is(after_space, kind)) return run(after_space, kind);
    return spaces(i);
  }
  // \s*[\r\n]+ (modern), then \s+(?!\S), then \s+.
  [[nodiscard]] std::size_t spaces(std::size_t i) const {
    std::size_t end = i;
    while (is_space(end)) ++end;
    if (pattern_.modern)
      for (std::size_t last = end; last > i; --last)
        if (is(last - 1, Class::newline)) return last;
    return end < characters_.size() && end - i > 1 ? end - 1 : end;
  }

  SplitPattern pattern_;
  std::string_view text_;
  std::vector<Character> characters_;
};

}  // namespace

std::size_t character_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80 ? 1 : lead >= 0xf0 && lead < 0xf8 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  if (lead >= 0xf8 || length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) != 0x80U) return 1;
  return length;
}

std::optional<SplitPattern> known_pattern(std::string_view regex) {
  struct Known {
    std::string_view regex;
    SplitPattern pattern;
  };
  static constexpr std::array<Known, 4> kKnown = {{
      {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", {false, 0}},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       {true, 3}},
      {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
       {true, 1}},
      {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
       {true, 3}},
  }};
  const auto found = std::find_if(kKnown.begin(), kKnown.end(), [&](const Known& known) { return known.regex == regex; });
  return found == kKnown.end() ? std::nullopt : std::optional(found->pattern);
}

std::vector<std::string_view> split_words_by(const SplitPattern& pattern, std::string_view text) {
  return Words(pattern, text).all();
}

std::string byte_level(std::string_view bytes) {
  // The bytes that stay are those of printable Latin-1; the others move to 256 and up, in their order.
  const auto stays = [](unsigned byte) { return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174; };
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char one : bytes) {
    const auto byte = static_cast<unsigned>(static_cast<unsigned char>(one));
    unsigned code = byte;
    if (!stays(byte)) {
      code = 256;
      for (unsigned before = 0; before < byte; ++before) code += stays(before) ? 0 : 1;
    }
    if (code < 0x80) {
      text += static_cast<char>(code);
    } else {
      text += static_cast<char>(0xc0U | code >> 6);
      text += static_cast<char>(0x80U | (code & 0x3fU));
    }
  }
  return text;
}

}  // namespace aaco::serving
