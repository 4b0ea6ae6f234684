#include <algorithm>
#include <array>

#include "analytics/fingerprint.h"
#include "core/files.h"
#include "core/strings.h"

namespace aaco::analytics::fingerprint {
namespace {

constexpr auto kFamilies = std::to_array<std::string_view>(
    {"gemm", "convolution", "attention", "reduction", "normalisation", "softmax", "elementwise", "copy_transpose",
     "embedding_gather", "sort_scan", "rng", "collective", "optimiser", "stencil", "delay", "other"});

using Decoder = core::Json (*)(std::string_view);
struct NamedDecoder {
  std::string_view name;
  Decoder decode;
};
constexpr std::array<NamedDecoder, 6> kDecoders = {{{"tensile", &decode_tensile},
                                                    {"ck", &decode_ck},
                                                    {"cutlass", &decode_cutlass},
                                                    {"triton", &decode_triton},
                                                    {"fused", &decode_fused},
                                                    {"asm_conv", &decode_asm_conv}}};

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool matches(const Pattern& pattern, std::string_view name) {
  const auto in_name = [&](const std::string& part) { return contains(name, part); };
  const auto begins = [&](const std::string& part) { return name.starts_with(part); };
  return (pattern.starts.empty() || std::any_of(pattern.starts.begin(), pattern.starts.end(), begins)) &&
         std::all_of(pattern.all.begin(), pattern.all.end(), in_name) &&
         (pattern.any.empty() || std::any_of(pattern.any.begin(), pattern.any.end(), in_name)) &&
         std::none_of(pattern.none.begin(), pattern.none.end(), in_name);
}

// Loaders decorate names: "x.kd", "x [clone .kd]", "x (.kd)", "void x".
std::string_view plain_name(std::string_view name) {
  name = core::trim(name);
  for (const std::string_view tail : {"[clone .kd]", "(.kd)", ".kd"})
    if (name.ends_with(tail)) name = core::trim(name.substr(0, name.size() - tail.size()));
  if (name.starts_with("void ")) name.remove_prefix(5);
  return name;
}

core::Result<std::vector<std::string>> texts(const core::YamlNode& node, std::string_view key) {
  const core::YamlNode* member = node.find(key);
  if (member == nullptr) return std::vector<std::string>();
  AACO_ASSIGN(std::vector<std::string> list, member->as_strings());
  for (std::string& text : list) {
    if (text.empty()) return member->error("an empty pattern would match everything");
    text = core::to_lower(text);
  }
  return list;
}

core::Result<Pattern> read_pattern(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "starts", "all", "any", "none", "family", "library", "decoder"}));
  Pattern pattern;
  AACO_ASSIGN(pattern.id, node.require_string("id"));
  AACO_ASSIGN(pattern.starts, texts(node, "starts"));
  AACO_ASSIGN(pattern.all, texts(node, "all"));
  AACO_ASSIGN(pattern.any, texts(node, "any"));
  AACO_ASSIGN(pattern.none, texts(node, "none"));
  AACO_ASSIGN(const auto family, node.optional_string("family"));
  AACO_ASSIGN(pattern.library, node.optional_string("library"));
  AACO_ASSIGN(const auto decoder, node.optional_string("decoder"));
  if (family) {
    pattern.family = family_from_string(*family);
    if (!pattern.family) return node.error("'" + *family + "' is not a kernel family");
  }
  pattern.decoder = decoder.value_or("");
  const auto known = [&](const NamedDecoder& entry) { return entry.name == pattern.decoder; };
  if (decoder && std::none_of(kDecoders.begin(), kDecoders.end(), known))
    return node.error("'" + *decoder + "' is not a name decoder");
  if (pattern.starts.empty() && pattern.all.empty() && pattern.any.empty())
    return node.error("pattern '" + pattern.id + "' has no condition (starts, all or any)");
  if (!pattern.family && !pattern.library) return node.error("pattern '" + pattern.id + "' sets neither family nor library");
  return pattern;
}

}  // namespace

std::string_view to_string(Family family) { return kFamilies[static_cast<std::size_t>(family)]; }

std::optional<Family> family_from_string(std::string_view name) {
  const auto place = std::find(kFamilies.begin(), kFamilies.end(), name);
  if (place == kFamilies.end()) return std::nullopt;
  return static_cast<Family>(place - kFamilies.begin());
}

core::Result<PatternBook> PatternBook::load(const std::string& folder) {
  PatternBook book;
  AACO_ASSIGN(const auto files, core::list_directory(folder));
  for (const std::string& file : files) {
    if (!file.ends_with(".yaml")) continue;
    AACO_ASSIGN(const core::YamlNode document, core::YamlNode::load(core::join_path(folder, file)));
    AACO_TRY(book.add(document));
  }
  if (book.patterns_.empty()) return core::fail(core::ErrorCode::not_found, folder + ": no kernel-name patterns found");
  return book;
}

core::Status PatternBook::add(const core::YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "patterns", "operators"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported; this version reads schema 1");
  if (document.find("operators") != nullptr) {
    AACO_ASSIGN(std::vector<std::string> names, texts(document, "operators"));
    operators_.insert(std::make_move_iterator(names.begin()), std::make_move_iterator(names.end()));
    if (document.find("patterns") == nullptr) return {};
  }
  AACO_ASSIGN(const core::YamlNode* list, document.require("patterns"));
  if (!list->is_sequence()) return list->error("'patterns' must be a list");
  for (const core::YamlNode& node : list->items()) {
    AACO_ASSIGN(Pattern pattern, read_pattern(node));
    for (const Pattern& known : patterns_)
      if (known.id == pattern.id) return node.error("duplicate pattern '" + pattern.id + "'");
    patterns_.push_back(std::move(pattern));
  }
  return {};
}

Fingerprint PatternBook::classify(std::string_view kernel_name) const {
  const std::string_view plain = plain_name(kernel_name);
  const std::string name = core::to_lower(plain);
  Fingerprint print;
  bool has_family = false;
  bool has_library = false;
  for (const Pattern& pattern : patterns_) {
    const bool adds = (!has_family && pattern.family) || (!has_library && pattern.library);
    if (!adds || !matches(pattern, name)) continue;
    if (!has_family && pattern.family) {
      has_family = true;
      print.family = *pattern.family;
      print.pattern = pattern.id;
    }
    if (!has_library && pattern.library) {
      has_library = true;
      print.library = *pattern.library;
    }
    if (print.parameters.is_null() && !pattern.decoder.empty())
      for (const NamedDecoder& decoder : kDecoders)
        if (decoder.name == pattern.decoder) print.parameters = decoder.decode(plain);
    if (has_family && has_library) break;
  }
  if (print.parameters.contains("fused")) {
    core::Json operations = core::Json::array();
    for (const std::string_view operation : split_fused(print.parameters["fused"].text(), operators_)) operations.push(operation);
    print.parameters.set("operations", std::move(operations));
  }
  return print;
}

}  // namespace aaco::analytics::fingerprint
