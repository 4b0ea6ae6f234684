#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace aaco::core {

// A node of a YAML document that remembers where it stood, so that a wrong value is reported as "FILE:LINE: ...".
class YamlNode {
 public:
  enum class Kind { null, scalar, sequence, mapping };
  using Entry = std::pair<YamlNode, YamlNode>;

  // `name` stands in messages, usually the path. Refused: anchors and aliases (they can explode), keys that are no texts or stand
  // twice, more than one document.
  static Result<YamlNode> parse(std::string_view text, std::string name);
  static Result<YamlNode> load(const std::string& path);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_null() const { return kind_ == Kind::null; }
  [[nodiscard]] bool is_mapping() const { return kind_ == Kind::mapping; }
  [[nodiscard]] bool is_sequence() const { return kind_ == Kind::sequence; }
  [[nodiscard]] const std::string& scalar() const { return scalar_; }
  [[nodiscard]] const std::vector<YamlNode>& items() const { return items_; }
  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  // "FILE:LINE"
  [[nodiscard]] std::string where() const;
  // An invalid_input error at this node.
  [[nodiscard]] tl::unexpected<Error> error(std::string_view problem, std::string remedy = {}) const;

  // The member of a mapping, or null where there is none.
  [[nodiscard]] const YamlNode* find(std::string_view key) const;

  [[nodiscard]] Result<std::string> as_string() const;
  [[nodiscard]] Result<std::int64_t> as_i64() const;
  [[nodiscard]] Result<double> as_f64() const;  // finite
  [[nodiscard]] Result<bool> as_bool() const;
  [[nodiscard]] Result<std::vector<std::string>> as_strings() const;
  [[nodiscard]] Result<std::vector<double>> as_f64s() const;

  // Member access for schema checks: `require_` fails without the key, `optional_` answers empty.
  [[nodiscard]] Result<const YamlNode*> require(std::string_view key) const;
  [[nodiscard]] Result<std::string> require_string(std::string_view key) const;
  [[nodiscard]] Result<double> require_f64(std::string_view key) const;
  [[nodiscard]] Result<std::int64_t> require_i64(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::string>> optional_string(std::string_view key) const;
  [[nodiscard]] Result<std::optional<double>> optional_f64(std::string_view key) const;
  [[nodiscard]] Result<std::optional<std::int64_t>> optional_i64(std::string_view key) const;
  [[nodiscard]] Result<std::optional<bool>> optional_bool(std::string_view key) const;
  // Fails on a key that is not among `known`, naming the nearest one.
  [[nodiscard]] Status only_keys(const std::vector<std::string_view>& known) const;

 private:
  friend struct YamlBuilder;
  Kind kind_ = Kind::null;
  int line_ = 0;
  std::string file_;
  std::string scalar_;
  std::vector<YamlNode> items_;
  std::vector<Entry> entries_;
};

}  // namespace aaco::core
