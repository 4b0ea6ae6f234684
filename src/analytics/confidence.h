#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/yaml.h"

// The probability that a statement of a kind is true, learned from judged cases (docs/formats/corpus.md).
namespace aaco::analytics::confidence {

// Statements of one kind, resting on the same kind of evidence.
struct EvidenceClass {
  std::int64_t right = 0, cases = 0;
  bool operator==(const EvidenceClass&) const = default;
};

// (right + prior) / (cases + 1), never 0 or 1: with the prior 1/2 Jeffreys' estimate of a proportion. A class without cases gives
// the prior.
double probability(const EvidenceClass& one, double prior = 0.5);

// data/rules/confidence.yaml.
class Table {
 public:
  // Fails, with file and line, on an unknown key, a duplicate class and counts that are negative or more right than cases.
  static core::Result<Table> load(const std::string& path);
  static core::Result<Table> parse(const core::YamlNode& document);

  // Classes of one subject and kind ("gap.*.frame") rest on the same kind of evidence: the prior of one of them is what the
  // others together give, that of a class alone in its kind is 1/2. Empty if the table names neither the class nor another of its
  // kind.
  [[nodiscard]] std::optional<double> of(std::string_view id) const;
  [[nodiscard]] const std::map<std::string, EvidenceClass, std::less<>>& classes() const { return classes_; }

 private:
  std::map<std::string, EvidenceClass, std::less<>> classes_;
};

}  // namespace aaco::analytics::confidence
