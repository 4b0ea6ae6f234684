#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

// Comma-separated values (RFC 4180) as profilers write them: LF or CRLF, quoted fields with commas, line ends and doubled quotes,
// and quotes that were not doubled (a quote ends a field only before a comma, a line end or the end of the text).
namespace aaco::formats::csv {

enum class Step { record, wants_more };

// Takes a text apart, record by record. Blank lines are passed over; a byte order mark is left to the caller.
class Decoder {
 public:
  // The record at `at`, which moves behind it. wants_more: the record is not whole and `at` has not moved, or, with `last`
  // (nothing follows `end`), there is none any more. An unclosed quote then reaches to the end.
  Step next(const char*& at, const char* end, bool last);
  // Without their quotes. Valid until next() is called or the text goes away.
  [[nodiscard]] const std::vector<std::string_view>& fields() const { return fields_; }
  // Whether the record had its line end: without one it may be cut.
  [[nodiscard]] bool terminated() const { return terminated_; }

 private:
  std::vector<std::string_view> fields_;
  std::deque<std::string> undoubled_;  // fields that could not be views of the text
  bool terminated_ = false;
};

}  // namespace aaco::formats::csv
