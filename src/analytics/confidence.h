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

// (right + 1/2) / (cases + 1): Jeffreys' estimate of a proportion, never 0 or 1. A class without cases gives 0.5.
double probability(const EvidenceClass& one);

// data/rules/confidence.yaml.
class Table {
 public:
  // Fails, with file and line, on an unknown key, a duplicate class and counts that are negative or more right than cases.
  static core::Result<Table> load(const std::string& path);
  static core::Result<Table> parse(const core::YamlNode& document);

  // Empty if the table does not name the class.
  [[nodiscard]] std::optional<double> of(std::string_view id) const;
  [[nodiscard]] const std::map<std::string, EvidenceClass, std::less<>>& classes() const { return classes_; }

 private:
  std::map<std::string, EvidenceClass, std::less<>> classes_;
};

}  // namespace aaco::analytics::confidence
