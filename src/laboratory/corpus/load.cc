#include <algorithm>
#include <array>
#include <set>

#include "core/files.h"
#include "laboratory/corpus.h"

namespace aaco::laboratory::corpus {
namespace {

using core::YamlNode;

constexpr auto kKinds = std::to_array<std::string_view>({"headline", "gap", "kernel", "pair", "coverage"});
constexpr auto kSplits = std::to_array<std::string_view>({"tune", "held"});

template <std::size_t N>
core::Result<std::string> one_of(const YamlNode& node, std::string_view key, const std::array<std::string_view, N>& known) {
  AACO_ASSIGN(std::string value, node.require_string(key));
  if (std::find(known.begin(), known.end(), value) == known.end())
    return node.error("'" + value + "' is not a known " + std::string(key));
  return value;
}

core::Result<std::vector<std::string>> list_of(const YamlNode& node, std::string_view key) {
  const YamlNode* member = node.find(key);
  if (member == nullptr) return std::vector<std::string>();
  return member->as_strings();
}

core::Result<Truth> truth_of(const YamlNode& node, bool asks_class) {
  AACO_TRY(node.only_keys({"class", "cause", "seconds", "must_not", "frame"}));
  Truth truth;
  if (asks_class) {
    AACO_ASSIGN(truth.class_id, node.require_string("class"));
  }
  AACO_ASSIGN(truth.cause, node.require_string("cause"));
  AACO_ASSIGN(truth.seconds, list_of(node, "seconds"));
  AACO_ASSIGN(truth.must_not, list_of(node, "must_not"));
  if (node.find("frame") != nullptr) {
    AACO_ASSIGN(truth.frame, node.require_string("frame"));
  }
  return truth;
}

core::Status read_values(const YamlNode& node, Case& one) {
  for (const auto& [key, value] : node.entries()) {
    if (key.scalar() == "start_ns" || key.scalar() == "length_ns") {
      AACO_ASSIGN((key.scalar() == "start_ns" ? one.start_ns : one.length_ns), value.as_i64());
    }
    if (const auto number = value.as_f64()) one.values[key.scalar()] = *number;
  }
  return {};
}

core::Result<Case> read_case(const YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "file", "others", "kind", "question", "query", "values", "truth", "proof", "split", "origin"}));
  Case one;
  AACO_ASSIGN(one.id, node.require_string("id"));
  AACO_ASSIGN(one.file, node.require_string("file"));
  AACO_ASSIGN(one.others, list_of(node, "others"));
  AACO_ASSIGN(one.kind, one_of(node, "kind", kKinds));
  AACO_ASSIGN(one.split, one_of(node, "split", kSplits));
  AACO_ASSIGN(one.origin, node.require_string("origin"));
  AACO_ASSIGN(const YamlNode* query, node.require("query"));
  AACO_ASSIGN(one.call, query->require_string("call"));
  if (const YamlNode* arguments = query->find("args"); arguments != nullptr && arguments->find("operators") != nullptr) {
    AACO_ASSIGN(one.operators, arguments->find("operators")->as_strings());
  }
  if (const YamlNode* arguments = query->find("args"); arguments != nullptr && arguments->find("kernel") != nullptr) {
    AACO_ASSIGN(one.kernel, arguments->require_string("kernel"));
  }
  AACO_ASSIGN(const YamlNode* values, node.require("values"));
  AACO_TRY(read_values(*values, one));
  AACO_ASSIGN(const YamlNode* truth, node.require("truth"));
  AACO_ASSIGN(one.truth, truth_of(*truth, one.kind != "coverage"));
  if (one.kind == "gap" && one.length_ns <= 0) return node.error("a gap needs values start_ns and length_ns");
  if (one.kind == "pair" && one.others.empty()) return node.error("a pair needs at least one file in 'others'");
  return one;
}

std::string own_word(std::string_view id) {
  std::string word(id);
  std::replace(word.begin(), word.end(), '_', '-');
  return word;
}

core::Result<std::map<std::string, std::string, std::less<>>> words_of(const YamlNode& document, std::string_view key) {
  std::map<std::string, std::string, std::less<>> found;
  const YamlNode* node = document.find(key);
  if (node == nullptr) return found;
  if (!node->is_mapping()) return node->error("'" + std::string(key) + "' must be a mapping of ids to words");
  for (const auto& [id, word] : node->entries()) {
    AACO_ASSIGN(std::string text, word.as_string());
    found.emplace(id.scalar(), std::move(text));
  }
  return found;
}

}  // namespace

core::Result<std::vector<Case>> cases_of(const YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "cases"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported; this program reads schema 1");
  AACO_ASSIGN(const YamlNode* list, document.require("cases"));
  if (!list->is_sequence()) return list->error("'cases' must be a list");
  std::vector<Case> cases;
  std::set<std::string> ids;
  for (const YamlNode& node : list->items()) {
    AACO_ASSIGN(Case one, read_case(node));
    if (!ids.insert(one.id).second) return node.error("duplicate case '" + one.id + "'");
    cases.push_back(std::move(one));
  }
  return cases;
}

core::Result<std::vector<Case>> load_cases(const std::string& folder) {
  std::vector<Case> all;
  std::set<std::string> ids;
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  for (const std::string& file : files) {
    if (!file.ends_with(".yaml")) continue;
    AACO_ASSIGN(const YamlNode document, YamlNode::load(core::join_path(folder, file)));
    AACO_ASSIGN(std::vector<Case> cases, cases_of(document));
    for (Case& one : cases) {
      if (!ids.insert(one.id).second) return document.error("duplicate case '" + one.id + "' in two files");
      all.push_back(std::move(one));
    }
  }
  if (all.empty()) return core::fail(core::ErrorCode::not_found, folder + ": no cases (*.yaml)", "docs/formats/corpus.md");
  return all;
}

core::Result<Words> Words::of(const YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "classes", "causes", "reasons"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported; this program reads schema 1");
  Words words;
  AACO_ASSIGN(words.classes_, words_of(document, "classes"));
  AACO_ASSIGN(words.reasons_, words_of(document, "reasons"));
  const YamlNode* causes = document.find("causes");
  for (const YamlNode& node : causes != nullptr ? causes->items() : std::vector<YamlNode>()) {
    AACO_TRY(node.only_keys({"ids", "class", "cause"}));
    Word word;
    AACO_ASSIGN(const auto class_id, node.optional_string("class"));
    AACO_ASSIGN(const auto cause, node.optional_string("cause"));
    AACO_ASSIGN(const YamlNode* list, node.require("ids"));
    AACO_ASSIGN(const std::vector<std::string> ids, list->as_strings());
    for (const std::string& id : ids)
      if (!words.causes_.emplace(id, Word{class_id.value_or(""), cause.value_or(own_word(id))}).second)
        return node.error("duplicate cause '" + id + "'");
  }
  return words;
}

core::Result<Words> Words::load(const std::string& path) {
  AACO_ASSIGN(const YamlNode document, YamlNode::load(path));
  return of(document);
}

std::string Words::class_of(std::string_view id) const {
  const auto found = classes_.find(id);
  return found != classes_.end() ? found->second : own_word(id);
}

Words::Word Words::cause_of(std::string_view id) const {
  if (id.empty()) return {};
  std::string key(id);
  std::replace(key.begin(), key.end(), '-', '_');
  const auto found = causes_.find(key);
  return found != causes_.end() ? found->second : Word{"", own_word(id)};
}

std::string Words::reason_in(std::string_view refusal) const {
  for (const auto& [id, word] : reasons_)
    if (refusal.find(id) != std::string_view::npos) return word;
  return "";
}

std::string Words::reason_of(std::string_view warning) const {
  const auto found = reasons_.find(warning);
  return found != reasons_.end() ? found->second : "";
}

}  // namespace aaco::laboratory::corpus
