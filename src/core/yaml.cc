#include "core/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <sstream>
#include <unordered_set>

#include "core/files.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::core {

namespace {
constexpr std::size_t kMaxYamlDepth = 64;
}

// Turns yaml-cpp's events into our tree, keeping the line of every node. Events, not its tree: anchors are seen wherever they
// stand, and nothing is expanded before it is refused.
struct YamlBuilder final : public YAML::EventHandler {
  explicit YamlBuilder(std::string name) : file(std::move(name)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { add(make(mark, anchor, YamlNode::Kind::null)); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { refuse_anchor(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    YamlNode node = make(mark, anchor, YamlNode::Kind::scalar);
    node.scalar_ = value;
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open_node(make(mark, anchor, YamlNode::Kind::sequence));
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    open_node(make(mark, anchor, YamlNode::Kind::mapping));
  }
  void OnSequenceEnd() override { close_node(); }
  void OnMapEnd() override { close_node(); }

  // Ends yaml-cpp's parsing with our own reason.
  struct Refused : std::exception {
    explicit Refused(Error why) : problem(std::move(why)) {}
    Error problem;
  };

  std::string file;
  YamlNode root;

 private:
  // A sequence or mapping that has begun; of a mapping also its keys so far, and the key whose value comes next.
  struct Frame {
    YamlNode node;
    std::unordered_set<std::string> keys;
    std::optional<YamlNode> key;
  };

  YamlNode make(const YAML::Mark& mark, YAML::anchor_t anchor, YamlNode::Kind kind) {
    if (anchor != YAML::NullAnchor) refuse_anchor(mark);
    YamlNode node;
    node.file_ = file;
    node.line_ = std::max(mark.line, 0) + 1;
    node.kind_ = kind;
    return node;
  }
  [[noreturn]] void refuse(const YamlNode& node, std::string_view what, std::string remedy = {}) {
    throw Refused(node.error(what, std::move(remedy)).value());
  }
  [[noreturn]] void refuse_anchor(const YAML::Mark& mark) {
    refuse(make(mark, YAML::NullAnchor, YamlNode::Kind::null), "anchors and aliases are not supported",
           "repeat the value, or quote it");
  }
  void open_node(YamlNode node) {
    if (open_.size() >= kMaxYamlDepth) refuse(node, "nested too deeply");
    open_.push_back({std::move(node), {}, std::nullopt});
  }
  void close_node() {
    YamlNode done = std::move(open_.back().node);
    open_.pop_back();
    add(std::move(done));
  }
  void add(YamlNode node) {
    if (open_.empty()) {
      root = std::move(node);
    } else if (Frame& frame = open_.back(); frame.node.kind_ == YamlNode::Kind::sequence) {
      frame.node.items_.push_back(std::move(node));
    } else if (frame.key) {
      frame.node.entries_.emplace_back(*std::exchange(frame.key, std::nullopt), std::move(node));
    } else {
      if (node.kind_ == YamlNode::Kind::sequence || node.kind_ == YamlNode::Kind::mapping) refuse(node, "a key must be a string");
      if (!frame.keys.insert(node.scalar_).second) refuse(node, "duplicate key '" + node.scalar_ + "'");
      frame.key = std::move(node);
    }
  }

  std::vector<Frame> open_;
};

namespace {

// The one document of `text`; throws what YamlBuilder and yaml-cpp throw.
Result<YamlNode> build_tree(std::string text, YamlBuilder& builder) {
  std::istringstream stream{std::move(text)};
  YAML::Parser parser(stream);
  if (!parser.HandleNextDocument(builder)) return std::move(builder.root);
  YamlNode first = std::move(builder.root);
  if (parser.HandleNextDocument(builder))
    return builder.root.error("a second YAML document starts here", "move it to a separate file");
  return first;
}

}  // namespace

Result<YamlNode> YamlNode::parse(std::string_view text, std::string name) {
  YamlBuilder builder(name);
  builder.root.file_ = name;
  builder.root.line_ = 1;
  try {
    // yaml-cpp takes a quote that never closes for closed where a line end follows it, and not where the text just ends.
    if (text.find_first_of("'\"") != std::string_view::npos) {
      YamlBuilder rehearsal(name);
      (void)build_tree(std::string(text.substr(0, text.find_last_not_of(" \t\r\n") + 1)), rehearsal);
    }
    return build_tree(std::string(text), builder);
  } catch (const YamlBuilder::Refused& refused) {
    return tl::unexpected<Error>(refused.problem);
  } catch (const YAML::Exception& problem) {
    const std::size_t line = static_cast<std::size_t>(std::max(problem.mark.line, 0));
    const auto lines = split_lines(text);
    const bool tab =
        line < lines.size() && lines[line].substr(0, lines[line].find_first_not_of(" \t")).find('\t') != std::string_view::npos;
    return fail(ErrorCode::invalid_input, name + ":" + std::to_string(line + 1) + ": not valid YAML: " + problem.msg,
                tab ? "the line starts with a tab: YAML is indented with spaces" : "");
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
  if (kind_ != Kind::scalar) return error("expected a string");
  return scalar_;
}

Result<std::int64_t> YamlNode::as_i64() const {
  if (auto value = parse_i64(scalar_); value && kind_ == Kind::scalar) return *value;
  if (kind_ != Kind::scalar) return error("expected an integer");
  return error("'" + scalar_ + "' is not an integer");
}

Result<double> YamlNode::as_f64() const {
  if (auto value = parse_f64(scalar_); value && kind_ == Kind::scalar && std::isfinite(*value)) return *value;
  if (kind_ != Kind::scalar) return error("expected a number");
  return error("'" + scalar_ + "' is not a number");
}

Result<bool> YamlNode::as_bool() const {
  if (kind_ == Kind::scalar) {
    if (scalar_ == "true" || scalar_ == "yes" || scalar_ == "on") return true;
    if (scalar_ == "false" || scalar_ == "no" || scalar_ == "off") return false;
  }
  return error("'" + scalar_ + "' is not a boolean (true or false)");
}

Result<std::vector<std::string>> YamlNode::as_strings() const {
  if (kind_ == Kind::scalar) return std::vector<std::string>{scalar_};
  if (kind_ != Kind::sequence) return error("expected a list of strings");
  std::vector<std::string> values;
  for (const YamlNode& item : items_) {
    AACO_ASSIGN(std::string value, item.as_string());
    values.push_back(std::move(value));
  }
  return values;
}

Result<std::vector<double>> YamlNode::as_f64s() const {
  if (kind_ != Kind::sequence) return error("expected a list of numbers");
  std::vector<double> values;
  for (const YamlNode& item : items_) {
    AACO_ASSIGN(const double value, item.as_f64());
    values.push_back(value);
  }
  return values;
}

Result<const YamlNode*> YamlNode::require(std::string_view key) const {
  if (kind_ != Kind::mapping) return error("expected a mapping with the key '" + std::string(key) + "'");
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
