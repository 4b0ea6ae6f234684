#pragma once

#include <immintrin.h>

#include <bit>
#include <cstdint>
#include <string_view>

// Finds the ends of JSON values without building or checking them: what a trace of gigabytes needs for nine tenths of its text.
// Every function takes the text as [at, end) and gives null where it ends inside the value. kSkimPadding bytes behind `end` must
// be readable. Nesting costs no stack.
namespace aaco::importers {

inline constexpr std::size_t kSkimPadding = 64;

inline const char* skip_space(const char* at, const char* end) {
  while (at < end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at;
}

// `at` is behind the opening quote; the answer is the closing quote. Sets `escaped` where a backslash was met.
inline const char* find_quote(const char* at, const char* end, bool& escaped) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i slash = _mm_set1_epi8('\\');
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const auto hits =
        static_cast<std::uint32_t>(_mm_movemask_epi8(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash))));
    if (hits == 0) {
      at += 16;
      continue;
    }
    at += std::countr_zero(hits);
    if (at >= end) return nullptr;
    if (*at == '"') return at;
    escaped = true;
    at += 2;
  }
  return nullptr;
}

// `at` is at a brace or bracket; the answer is behind its partner.
inline const char* skip_nested(const char* at, const char* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i fold = _mm_set1_epi8(0x20);  // '[' | 0x20 is '{', ']' | 0x20 is '}'
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  std::int64_t depth = 0;
  while (at < end) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i folded = _mm_or_si128(bytes, fold);
    auto hits = static_cast<std::uint32_t>(_mm_movemask_epi8(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_or_si128(_mm_cmpeq_epi8(folded, open), _mm_cmpeq_epi8(folded, close)))));
    const char* block = at;
    at += 16;
    while (hits != 0) {
      const char* hit = block + std::countr_zero(hits);
      hits &= hits - 1;
      if (hit >= end) return nullptr;
      if (*hit == '"') {
        bool escaped = false;
        const char* close_quote = find_quote(hit + 1, end, escaped);
        if (close_quote == nullptr) return nullptr;
        at = close_quote + 1;
        break;
      }
      if ((*hit | 0x20) == '{') {
        ++depth;
      } else if (--depth == 0) {
        return hit + 1;
      }
    }
  }
  return nullptr;
}

inline bool ends_scalar(char c) {
  return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\n' || c == '\r' || c == '\t' || c == ':' || c == '"' ||
         c == '{' || c == '[';
}

// Any value; an empty one (a comma where a value belongs) ends where it begins.
inline const char* skip_value(const char* at, const char* end) {
  if (at >= end) return nullptr;
  if (*at == '"') {
    bool escaped = false;
    const char* quote = find_quote(at + 1, end, escaped);
    return quote == nullptr ? nullptr : quote + 1;
  }
  if (*at == '{' || *at == '[') return skip_nested(at, end);
  while (at < end && !ends_scalar(*at)) ++at;
  return at < end ? at : nullptr;
}

enum class Skim { whole, cut, malformed };

// Calls member(key, value) for each member of the object at `at`, both as they stand in the text (the key without its quotes, a
// string value with them), and moves `at` behind the object. `cut`: the text ends inside; `at` is unchanged then.
template <class Member>
Skim skim_object(const char*& at, const char* end, Member&& member) {
  const char* p = skip_space(at + 1, end);
  if (p < end && *p == '}') {
    at = p + 1;
    return Skim::whole;
  }
  for (;;) {
    if (p >= end) return Skim::cut;
    if (*p != '"') return Skim::malformed;
    bool escaped = false;
    const char* key = p + 1;
    const char* key_end = find_quote(key, end, escaped);
    if (key_end == nullptr) return Skim::cut;
    p = skip_space(key_end + 1, end);
    if (p >= end) return Skim::cut;
    if (*p != ':') return Skim::malformed;
    p = skip_space(p + 1, end);
    const char* value = p;
    p = skip_value(p, end);
    if (p == nullptr) return Skim::cut;
    if (p == value) return Skim::malformed;
    member(std::string_view(key, static_cast<std::size_t>(key_end - key)),
           std::string_view(value, static_cast<std::size_t>(p - value)));
    p = skip_space(p, end);
    if (p >= end) return Skim::cut;
    if (*p == '}') {
      at = p + 1;
      return Skim::whole;
    }
    if (*p != ',') return Skim::malformed;
    p = skip_space(p + 1, end);
  }
}

// The same for a value cut out before (an event's "args"): nothing happens where it is no object, and members before a
// malformed one are still visited. kSkimPadding must be readable behind it.
template <class Member>
void for_each_member(std::string_view object, Member&& member) {
  if (object.empty() || object.front() != '{') return;
  const char* at = object.data();
  (void)skim_object(at, object.data() + object.size(), member);
}

// "text" without its quotes; anything else as it stands.
inline std::string_view unquoted(std::string_view value) {
  return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

}  // namespace aaco::importers
