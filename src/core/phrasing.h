#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace aaco::core {

// Errors and their remedies are written for the command line. Callers of another face know its commands and options by other
// names: `from` as an error has it ("aaco ls", "--ort-lib", "--better lower"), `to` as that face calls it. Both live as long as
// the program. The last word of a quoted command may be left open ("aaco verify *"): `to` has it in place of its '*'.
struct Phrase {
  std::string_view from, to;
};

// Words of the command line in those of another face. At each place the longest `from` counts that ends at the end of a word.
class Phrasing {
 public:
  // `elsewhere` follows a quoted command that has no other name there: " in a shell".
  Phrasing(std::span<const Phrase> phrases, std::string_view elsewhere);

  // A quoted command ('aaco ls', `aaco ls`) is replaced with its quotes, and only as a whole: with further words it stays.
  [[nodiscard]] std::string of(std::string_view text) const;
  [[nodiscard]] Error of(Error error) const;  // message, remedy and context

 private:
  [[nodiscard]] const Phrase* longest_at(std::string_view text) const;
  [[nodiscard]] std::optional<std::string> command(std::string_view text) const;

  std::vector<Phrase> phrases_;  // the longest first
  std::string_view elsewhere_;
};

}  // namespace aaco::core
