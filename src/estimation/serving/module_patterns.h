#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace aaco::estimation {

// Entries of "modules_to_not_convert", "ignore", "exclude" and "targets": names of modules or parts of them ("lm_head",
// "self_attn", "model.layers.0.mlp"), with wildcards ("model.layers.*.self_attn"), or regular expressions ("re:.*self_attn.*").
class ModulePatterns {
 public:
  static constexpr std::size_t kMaxWildcards = 32;  // entries with wildcards or regular expressions

  void add(std::string_view entry);
  [[nodiscard]] bool empty() const { return names_.empty() && globs_.empty() && expressions_.empty(); }
  // `name`: "model.layers.3.mlp.gate_proj". An entry without wildcards covers what lies within the module that it names.
  [[nodiscard]] bool covers(const std::string& name) const;
  // Entries that are not understood or too many: what they cover is not known.
  [[nodiscard]] const std::vector<std::string>& ignored() const { return ignored_; }
  // More was asked than the work that is allowed: answers since are of no use.
  [[nodiscard]] bool exhausted() const { return matches_left_ == 0; }

 private:
  mutable std::size_t matches_left_ = 200'000;  // of wildcards and expressions; 200 layers of ten modules take 64,000
  std::unordered_set<std::string> names_;
  std::vector<std::string> globs_, expressions_, ignored_;
};

// Wildcard * for any text.
bool glob_matches(std::string_view glob, std::string_view text);

// Whether a regular expression matches from the start of the text on (not necessarily to its end): literals, ".", classes,
// groups, alternatives, "*", "+", "?", "^", "$" and escapes; no look-around, no back references. Work is bounded, and expressions
// of more than 1,000 bytes are not understood.
enum class ExpressionMatch : std::uint8_t { no, yes, not_understood };
ExpressionMatch expression_matches(std::string_view expression, std::string_view text);

}  // namespace aaco::estimation
