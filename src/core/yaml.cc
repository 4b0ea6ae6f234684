#include "core/yaml.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::core {

namespace {
constexpr int kMaxDepth = 64;
}

// Turns yaml-cpp's tree into ours, keeping the line of every node.
struct YamlBuilder {
  std::string file;

  Result<YamlNode> build(const YAML::Node& from, int depth) const {
    YamlNode node;
    node.file_ = file;
    node.line_ = from.Mark().line + 1;
    if (depth > kMaxDepth) return node.error("nested too deeply");
    switch (from.Type()) {
      case YAML::NodeType::Scalar:
        node.kind_ = YamlNode::Kind::scalar;
        node.scalar_ = from.Scalar();
        break;
      case YAML::NodeType::Sequence:
        node.kind_ = YamlNode::Kind::sequence;
        for (const auto& item : from) {
          AACO_ASSIGN(YamlNode child, build(item, depth + 1));
          node.items_.push_back(std::move(child));
        }
        break;
      case YAML::NodeType::Map:
        node.kind_ = YamlNode::Kind::mapping;
        for (const auto& entry : from) {
          AACO_ASSIGN(YamlNode key, build(entry.first, depth + 1));
          AACO_ASSIGN(YamlNode value, build(entry.second, depth + 1));
          if (node.find(key.scalar())) return key.error("the key '" + key.scalar() + "' stands here twice");
          node.entries_.emplace_back(std::move(key), std::move(value));
        }
        break;
      default: break;
    }
    return node;
  }
};

Result<YamlNode> YamlNode::parse(std::string_view text, std::string name) {
  try {
    std::string document(text);
    for (std::size_t at = 0; (at = document.find_first_of("&*", at)) != std::string::npos; ++at) {
      const bool starts_value = at >= 2 && document[at - 1] == ' ' && (document[at - 2] == ':' || document[at - 2] == '-');
      if (starts_value) {
        YamlNode here;
        here.file_ = name;
        here.line_ = 1 + static_cast<int>(std::count(document.begin(), document.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
        return here.error("anchors and aliases are not read here", "write the value out, or quote it");
      }
    }
    return YamlBuilder{std::move(name)}.build(YAML::Load(document), 0);
  } catch (const YAML::Exception& problem) {
    return fail(ErrorCode::invalid_input,
                name + ":" + std::to_string(problem.mark.line + 1) + ": not valid YAML: " + problem.msg);
  }
}

Result<YamlNode> YamlNode::load(const std::string& path) {
  AACO_ASSIGN(const std::string text, read_file(path, std::int64_t{64} << 20));
  return parse(text, path);
}

std::string YamlNode::where() const { return file_ + ":" + std::to_string(line_); }

tl::unexpected<Error> YamlNode::error(std::string_view problem, std::string remedy) const {
  return fail(ErrorCode::invalid_input, where() + ": " + std::string(problem), std::move(remedy));
}

const YamlNode* YamlNode::find(std::string_view key) const {
  for (const auto& [name, value] : entries_)
    if (name.scalar() == key) return &value;
  return nullptr;
}

Result<std::string> YamlNode::as_string() const {
  if (kind_ != Kind::scalar) return error("a text is needed here");
  return scalar_;
}

Result<std::int64_t> YamlNode::as_i64() const {
  if (auto value = parse_i64(scalar_); value && kind_ == Kind::scalar) return *value;
  return error("'" + scalar_ + "' is not a whole number");
}

Result<double> YamlNode::as_f64() const {
  if (auto value = parse_f64(scalar_); value && kind_ == Kind::scalar && std::isfinite(*value)) return *value;
  return error("'" + scalar_ + "' is not a number");
}

Result<bool> YamlNode::as_bool() const {
  if (kind_ == Kind::scalar) {
    if (scalar_ == "true" || scalar_ == "yes" || scalar_ == "on") return true;
    if (scalar_ == "false" || scalar_ == "no" || scalar_ == "off") return false;
  }
  return error("'" + scalar_ + "' is neither true nor false");
}

Result<std::vector<std::string>> YamlNode::as_strings() const {
  if (kind_ == Kind::scalar) return std::vector<std::string>{scalar_};
  if (kind_ != Kind::sequence) return error("a list of texts is needed here");
  std::vector<std::string> values;
  for (const YamlNode& item : items_) {
    AACO_ASSIGN(std::string value, item.as_string());
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::vector<double>> YamlNode::as_f64s() const {
  if (kind_ != Kind::sequence) return error("a list of numbers is needed here");
  std::vector<double> values;
  for (const YamlNode& item : items_) {
    AACO_ASSIGN(const double value, item.as_f64());
    values.push_back(value);
  }
  return values;
}

Result<const YamlNode*> YamlNode::require(std::string_view key) const {
  if (kind_ != Kind::mapping) return error("a mapping with the key '" + std::string(key) + "' is needed here");
  if (const YamlNode* value = find(key)) return value;
  return error("the key '" + std::string(key) + "' is missing");
}

Result<std::string> YamlNode::require_string(std::string_view key) const {
  AACO_ASSIGN(const YamlNode* value, require(key));
  return value->as_string();
}

Result<double> YamlNode::require_f64(std::string_view key) const {
  AACO_ASSIGN(const YamlNode* value, require(key));
  return value->as_f64();
}

Result<std::int64_t> YamlNode::require_i64(std::string_view key) const {
  AACO_ASSIGN(const YamlNode* value, require(key));
  return value->as_i64();
}

Result<std::optional<std::string>> YamlNode::optional_string(std::string_view key) const {
  const YamlNode* value = find(key);
  if (!value || value->is_null()) return std::nullopt;
  AACO_ASSIGN(std::string text, value->as_string());
  return text;
}

Result<std::optional<double>> YamlNode::optional_f64(std::string_view key) const {
  const YamlNode* value = find(key);
  if (!value || value->is_null()) return std::nullopt;
  AACO_ASSIGN(const double number, value->as_f64());
  return number;
}

Result<std::optional<std::int64_t>> YamlNode::optional_i64(std::string_view key) const {
  const YamlNode* value = find(key);
  if (!value || value->is_null()) return std::nullopt;
  AACO_ASSIGN(const std::int64_t number, value->as_i64());
  return number;
}

Result<std::optional<bool>> YamlNode::optional_bool(std::string_view key) const {
  const YamlNode* value = find(key);
  if (!value || value->is_null()) return std::nullopt;
  AACO_ASSIGN(const bool flag, value->as_bool());
  return flag;
}

Status YamlNode::only_keys(const std::vector<std::string_view>& known) const {
  for (const auto& [key, value] : entries_) {
    bool found = false;
    for (std::string_view name : known) found = found || name == key.scalar();
    if (!found) {
      const auto near = nearest(key.scalar(), known);
      return key.error("unknown key '" + key.scalar() + "'",
                       near.empty() ? "known keys: " + join(known, ", ") : "did you mean '" + std::string(near) + "'?");
    }
  }
  return {};
}

}  // namespace aaco::core
