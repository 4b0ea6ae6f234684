#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace aaco::collectors::probe {

// Walks over the text of a /proc or /sys file without allocating. What is not there is empty, and the scanner then stands at the
// end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::string_view rest() const { return rest_; }

  // The next line without its end.
  std::optional<std::string_view> next_line() {
    if (rest_.empty()) return std::nullopt;
    const std::size_t end = rest_.find('\n');
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    return line;
  }
  // The next word between white space.
  std::optional<std::string_view> next_word() {
    skip_space();
    const std::size_t end = rest_.find_first_of(kSpace);
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(word.size());
    return word.empty() ? std::nullopt : std::optional(word);
  }
  // The next word as a number; a word that does not begin with one, or does not fit, ends the scan. A unit may follow it ("56c",
  // "8.0").
  std::optional<std::int64_t> next_i64() { return next_number<std::int64_t>(); }
  std::optional<std::uint64_t> next_u64() { return next_number<std::uint64_t>(); }
  std::optional<double> next_f64() { return next_number<double>(); }
  // Drops `count` words.
  bool skip_words(int count) {
    for (; count > 0; --count)
      if (!next_word()) return false;
    return true;
  }

 private:
  static constexpr std::string_view kSpace{" \t\n\r\0", 5};
  void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(kSpace), rest_.size())); }
  template <class Number>
  std::optional<Number> next_number() {
    const auto word = next_word();
    Number value{};
    if (word && std::from_chars(word->data(), word->data() + word->size(), value).ec == std::errc{}) return value;
    rest_ = {};
    return std::nullopt;
  }
  std::string_view rest_;
};

// The number after `key` at the beginning of a line ("MemFree:  123 kB", "nr_throttled 7"); white space or a colon follows the
// key.
inline std::optional<std::uint64_t> keyed_u64(std::string_view text, std::string_view key) {
  Scanner lines(text);
  while (const auto line = lines.next_line()) {
    if (!line->starts_with(key)) continue;
    std::string_view value = line->substr(key.size());
    if (value.starts_with(':')) value.remove_prefix(1);
    if (value.starts_with(' ') || value.starts_with('\t')) return Scanner(value).next_u64();
  }
  return std::nullopt;
}

}  // namespace aaco::collectors::probe
