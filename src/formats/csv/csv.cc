#include "formats/csv.h"

#include <cstring>

namespace aaco::formats::csv {
namespace {

const char* find(const char* at, const char* end, char wanted) {
  return static_cast<const char*>(std::memchr(at, wanted, static_cast<std::size_t>(end - at)));
}

const char* find_separator(const char* at, const char* end) {
  while (at < end && *at != ',' && *at != '\n') ++at;
  return at;
}

// What stands behind a closing quote, or the end.
bool ends_field(const char* at, const char* end) {
  return at >= end || *at == ',' || *at == '\n' || (*at == '\r' && (at + 1 >= end || at[1] == '\n'));
}

struct Quoted {
  const char* close = nullptr;  // the closing quote, or the end where there is none; null: the text ends before it can be known
  bool doubled = false;
};

Quoted find_close(const char* at, const char* end, bool last) {
  Quoted found;
  for (;;) {
    const char* quote = find(at, end, '"');
    if (quote == nullptr) {
      found.close = last ? end : nullptr;
      return found;
    }
    if (!last && quote + 2 >= end) return found;  // what follows decides what it is
    if (ends_field(quote + 1, end)) {
      found.close = quote;
      return found;
    }
    if (quote[1] == '"') {
      found.doubled = true;
      ++quote;
    }
    at = quote + 1;
  }
}

std::string undouble(const char* begin, const char* end) {
  std::string text;
  text.reserve(static_cast<std::size_t>(end - begin));
  for (const char* at = begin; at < end; ++at) {
    text += *at;
    if (*at == '"' && at + 1 < end && at[1] == '"') ++at;
  }
  return text;
}

}  // namespace

Step Decoder::next(const char*& at, const char* end, bool last) {
  while (at < end && (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n'))) ++at;
  fields_.clear();
  undoubled_.clear();
  terminated_ = false;
  const char* p = at;
  while (p < end || !fields_.empty()) {
    if (p < end && *p == '"') {
      const Quoted quoted = find_close(p + 1, end, last);
      if (quoted.close == nullptr) return Step::wants_more;
      if (quoted.doubled)
        fields_.push_back(undoubled_.emplace_back(undouble(p + 1, quoted.close)));
      else
        fields_.emplace_back(p + 1, static_cast<std::size_t>(quoted.close - p - 1));
      p = quoted.close < end ? quoted.close + 1 : end;
      if (p < end && *p == '\r') ++p;
    } else {
      const char* stop = find_separator(p, end);
      if (stop == end && !last) return Step::wants_more;
      const char* text_end = stop > p && (stop == end || *stop == '\n') && stop[-1] == '\r' ? stop - 1 : stop;
      fields_.emplace_back(p, static_cast<std::size_t>(text_end - p));
      p = stop;
    }
    if (p >= end) {
      if (!last) return Step::wants_more;
      at = end;
      return Step::record;
    }
    if (*p == '\n') {
      at = p + 1;
      terminated_ = true;
      return Step::record;
    }
    ++p;  // a comma
  }
  return Step::wants_more;
}

}  // namespace aaco::formats::csv
