#include "hardware/secrets/randomness.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "hardware/secrets/characters.h"

namespace aaco::hardware::secrets {
namespace {

enum class Class { lower, upper, digit, other };

Class class_of(char c) {
  if (is_lower(c)) return Class::lower;
  if (is_upper(c)) return Class::upper;
  return is_digit(c) ? Class::digit : Class::other;
}

struct Disorder {
  std::size_t length = 0;  // letters and digits
  std::size_t lower = 0, upper = 0, digits = 0, distinct = 0;
  double changes = 0;  // of class per letter; the capital that begins a word changes once
  [[nodiscard]] bool all_classes() const { return lower > 0 && upper > 0 && digits > 0; }
};

Disorder disorder_of(std::string_view text) {
  Disorder disorder;
  std::set<char> seen;
  std::size_t changes = 0;
  Class previous = Class::other, before = Class::other;
  for (const char c : text) {
    const Class now = class_of(c);
    if (now != Class::other) {
      seen.insert(c);
      ++disorder.length;
      disorder.lower += now == Class::lower ? 1 : 0;
      disorder.upper += now == Class::upper ? 1 : 0;
      disorder.digits += now == Class::digit ? 1 : 0;
      const bool begins_word = now == Class::lower && previous == Class::upper && before != Class::upper;
      if (previous != Class::other && now != previous && !begins_word) ++changes;
    }
    before = previous;
    previous = now;
  }
  disorder.distinct = seen.size();
  if (disorder.length > 0) disorder.changes = static_cast<double>(changes) / static_cast<double>(disorder.length);
  return disorder;
}

bool is_hexadecimal(std::string_view run) {
  return std::all_of(run.begin(), run.end(), [](char c) { return std::isxdigit(static_cast<unsigned char>(c)) != 0; });
}
// Session and job ids: 26 characters of Crockford's base 32 that begin with a time.
bool is_ulid(std::string_view run) {
  return run.size() == 26 && run[0] >= '0' && run[0] <= '7' &&
         std::none_of(run.begin(), run.end(), [](char c) { return class_of(c) == Class::lower; });
}

// Thresholds: generated base 62 changes its class at 0.56 of its letters, base 36 at 0.40; names of models, kernels and classes
// stay below 0.27 (tests/fixtures/secrets).
bool is_random_run(std::string_view run) {
  constexpr std::size_t kShortest = 16, kLong = 24;
  if (run.size() < kShortest || is_hexadecimal(run) || is_ulid(run)) return false;
  const Disorder disorder = disorder_of(run);
  if (disorder.distinct < 8) return false;
  if (disorder.all_classes()) return disorder.changes >= (run.size() < kLong ? 0.34 : 0.29);
  if (disorder.digits > 3) return run.size() >= 20 && disorder.changes >= 0.29;
  return disorder.digits == 0 && run.size() >= kLong && disorder.changes >= 0.35;
}

// Base 64 is cut by its '/', '+', '-' and '_'.
bool is_random_base64(std::string_view run) {
  constexpr std::size_t kShortest = 32;
  if (run.size() < kShortest || run[0] == '/' || run[0] == '.' || run[0] == '~') return false;
  const Disorder disorder = disorder_of(run);
  const bool separated = static_cast<double>(disorder.length) < 0.88 * static_cast<double>(run.size());
  return !separated && disorder.all_classes() && disorder.distinct >= 12 && run.find("sha256") == std::string_view::npos &&
         disorder.changes >= (run.find_first_of("/+=") == std::string_view::npos ? 0.29 : 0.2);
}

bool is_base64(char c) { return is_alnum(c) || c == '/' || c == '+' || c == '=' || c == '-' || c == '_'; }

template <class Member, class Test>
bool any_run(std::string_view text, Member member, Test test) {
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && member(text[end])) ++end;
    if (end > begin && test(text.substr(begin, end - begin))) return true;
    begin = std::max(end, begin + 1);
  }
  return false;
}

}  // namespace

bool has_random_part(std::string_view text) {
  if (text.starts_with("_Z")) return false;                                           // a mangled symbol
  for (const std::string_view digest : {"sha256-", "sha384-", "sha512-", "SHA256:"})  // a digest in base 64
    if (text.starts_with(digest)) return false;
  return any_run(text, is_alnum, is_random_run) || any_run(text, is_base64, is_random_base64);
}

}  // namespace aaco::hardware::secrets
