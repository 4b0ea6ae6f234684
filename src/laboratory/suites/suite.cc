#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "core/files.h"
#include "core/strings.h"
#include "core/yaml.h"
#include "laboratory/suites.h"

// The schema of data/benchmarks/*.yaml; docs/formats/benchmarks.md describes it for people.
namespace aaco::laboratory {
namespace {

using core::YamlNode;

constexpr std::int64_t kSchema = 1;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 31;
constexpr std::array<std::string_view, 2> kForGpus{"llm", "gpu"};  // hours on a processor, so that only their names ask for them
constexpr std::size_t kMaxCases = 100'000;
constexpr std::array kKinds{CaseKind::gemm,   CaseKind::convolution, CaseKind::attention,
                            CaseKind::vector, CaseKind::transfer,    CaseKind::model};
constexpr std::array<std::string_view, 7> kTypes{"float32", "float16", "bfloat16", "int8", "float64", "tf32", "float8"};
constexpr std::array<std::string_view, 7> kTransfers{"h2d_pinned", "h2d_pageable", "d2h_pinned", "d2h_pageable",
                                                     "d2d",        "peer",         "read"};

bool is_type(std::string_view name) { return std::find(kTypes.begin(), kTypes.end(), name) != kTypes.end(); }

// Small letters and _: kernels name the tables.
bool is_file_name(std::string_view name) {
  return !name.empty() &&
         std::all_of(name.begin(), name.end(), [](char letter) { return (letter >= 'a' && letter <= 'z') || letter == '_'; });
}

struct SizeRule {
  std::string_view name;
  std::optional<std::int64_t> fallback;  // empty: it must be given
  std::int64_t least = 1;
};

// The sizes of a site, by kind; a workload names dimensions of its model.
const std::vector<SizeRule>& sizes_of(CaseKind kind) {
  static const std::vector<SizeRule> kGemm{{"batch", 1}, {"m", {}}, {"n", {}}, {"k", {}}};
  static const std::vector<SizeRule> kConvolution{{"n", 1},      {"c", {}},       {"h", {}},    {"w", {}},
                                                  {"k", {}},     {"r", {}},       {"s", {}},    {"pad", 0, 0},
                                                  {"stride", 1}, {"dilation", 1}, {"groups", 1}};
  static const std::vector<SizeRule> kAttention{{"batch", 1}, {"tokens", {}}, {"heads", {}}, {"head_dim", {}}};
  static const std::vector<SizeRule> kVector{{"rows", {}}, {"cols", {}}};
  static const std::vector<SizeRule> kTransfer{{"bytes", {}}, {"peer", 0, 0}};
  static const std::vector<SizeRule> kModel{{"batch", 1}};
  switch (kind) {
    case CaseKind::gemm: return kGemm;
    case CaseKind::convolution: return kConvolution;
    case CaseKind::attention: return kAttention;
    case CaseKind::vector: return kVector;
    case CaseKind::transfer: return kTransfer;
    case CaseKind::model: break;
  }
  return kModel;
}

// A size, or a list of sizes.
core::Result<std::vector<std::int64_t>> read_sizes(const YamlNode& node, std::int64_t least) {
  std::vector<YamlNode> items = node.is_sequence() ? node.items() : std::vector<YamlNode>{node};
  if (items.empty()) return node.error("empty list of sizes");
  std::vector<std::int64_t> sizes;
  for (const YamlNode& item : items) {
    AACO_ASSIGN(const std::int64_t size, item.as_i64());
    if (size < least || size > kLargestSize)
      return item.error(fmt::format("size {} is out of range ({} to {})", size, least, kLargestSize));
    sizes.push_back(size);
  }
  return sizes;
}

std::string id_of(const BenchmarkCase& one) {
  std::string id = one.kernel + " " + one.dtype;
  if (!one.op.empty() && one.op != one.kernel) id += " " + one.op;
  if (!one.model.empty()) id += " " + one.model;
  for (const auto& [name, size] : one.sizes) id += fmt::format(" {}={}", name, size);
  return id;
}

// A filter that does not fit its input has no output, and groups must divide the channels.
core::Status check_site(const YamlNode& node, const BenchmarkCase& one) {
  if (one.kind != CaseKind::convolution) return {};
  const std::int64_t reach = one.size("dilation") * (std::max(one.size("r"), one.size("s")) - 1) + 1;
  if (reach > std::min(one.size("h"), one.size("w")) + 2 * one.size("pad"))
    return node.error("the filter is larger than the padded input: " + id_of(one));
  if (one.size("c") % one.size("groups") != 0 || one.size("k") % one.size("groups") != 0)
    return node.error("the channel count is not divisible by the groups: " + id_of(one));
  return {};
}

// Every combination of the sizes a site lists.
core::Status expand(const YamlNode& node, const BenchmarkCase& base, std::vector<BenchmarkCase>& cases) {
  if (!node.is_mapping()) return node.error("a site must be a mapping of sizes", "for example {m: [1, 64], n: 768, k: 768}");
  std::vector<BenchmarkCase> made{base};
  const auto multiply = [&made](const std::string& name, const std::vector<std::int64_t>& values) {
    std::vector<BenchmarkCase> next;
    for (const BenchmarkCase& one : made)
      for (const std::int64_t value : values) {
        next.push_back(one);
        next.back().sizes[name] = value;
      }
    made = std::move(next);
  };
  std::vector<std::string_view> known;
  for (const SizeRule& rule : sizes_of(base.kind)) {
    known.push_back(rule.name);
    const YamlNode* given = node.find(rule.name);
    if (given == nullptr && !rule.fallback) return node.error("the size '" + std::string(rule.name) + "' is missing");
    std::vector<std::int64_t> sizes{rule.fallback.value_or(0)};
    if (given != nullptr) {
      AACO_ASSIGN(sizes, read_sizes(*given, rule.least));
    }
    multiply(std::string(rule.name), sizes);
  }
  if (base.kind != CaseKind::model) {
    AACO_TRY(node.only_keys(known));
  } else {
    for (const auto& [key, value] : node.entries())
      if (key.scalar() != "model" && key.scalar() != "batch") {
        AACO_ASSIGN(const auto sizes, read_sizes(value, 0));
        multiply(key.scalar(), sizes);
      }
  }
  if (cases.size() + made.size() > kMaxCases) return node.error("the suite has more than 100,000 cases");
  for (BenchmarkCase& one : made) {
    if (one.kernel == "depthwise") one.sizes["groups"] = one.size("c");
    AACO_TRY(check_site(node, one));
    one.id = id_of(one);
    cases.push_back(std::move(one));
  }
  return {};
}

core::Result<std::vector<std::string>> read_names(const YamlNode& parent, std::string_view key,
                                                  std::vector<std::string> fallback) {
  const YamlNode* node = parent.find(key);
  if (node == nullptr) return fallback;
  AACO_ASSIGN(std::vector<std::string> names, node->as_strings());
  if (names.empty()) return node->error(std::string(key) + " is empty");
  return names;
}

core::Result<CaseKind> read_kind(const YamlNode& node) {
  AACO_ASSIGN(const std::string text, node.require_string("kind"));
  std::vector<std::string_view> names;
  for (const CaseKind kind : kKinds) {
    if (kind != CaseKind::model && to_string(kind) == text) return kind;
    if (kind != CaseKind::model) names.push_back(to_string(kind));
  }
  return node.find("kind")->error("'" + text + "' is not a kernel kind", "use one of: " + core::join(names, ", "));
}

core::Status read_kernel(const YamlNode& node, std::vector<BenchmarkCase>& cases) {
  if (!node.is_mapping()) return node.error("a kernel must be a mapping with kernel, kind, dtypes and sites");
  AACO_TRY(node.only_keys({"kernel", "kind", "dtypes", "ops", "sites"}));
  BenchmarkCase base;
  AACO_ASSIGN(base.kernel, node.require_string("kernel"));
  if (!is_file_name(base.kernel))
    return node.find("kernel")->error("a kernel name may only contain lowercase letters and _ (it is used as a file name)");
  AACO_ASSIGN(base.kind, read_kind(node));
  AACO_ASSIGN(const auto dtypes, read_names(node, "dtypes", {"float32"}));
  AACO_ASSIGN(const auto ops,
              read_names(node, "ops", {base.kind == CaseKind::vector || base.kind == CaseKind::transfer ? base.kernel : ""}));
  AACO_ASSIGN(const YamlNode* sites, node.require("sites"));
  if (!sites->is_sequence() || sites->items().empty()) return sites->error("sites must be a list");
  if (base.kind == CaseKind::transfer)
    for (const std::string& op : ops)
      if (std::find(kTransfers.begin(), kTransfers.end(), op) == kTransfers.end())
        return node.error("'" + op + "' is not a transfer",
                          "use ops of " + core::join(std::vector<std::string_view>(kTransfers.begin(), kTransfers.end()), ", "));
  for (const std::string& dtype : dtypes) {
    if (!is_type(dtype))
      return node.find("dtypes")->error("'" + dtype + "' is not a supported data type",
                                        "use " + core::join(std::vector<std::string_view>(kTypes.begin(), kTypes.end()), ", "));
    for (const std::string& op : ops)
      for (const YamlNode& site : sites->items()) {
        base.dtype = dtype;
        base.op = op;
        AACO_TRY(expand(site, base, cases));
      }
  }
  return {};
}

core::Status read_model(const YamlNode& node, std::vector<BenchmarkCase>& cases) {
  if (!node.is_mapping()) return node.error("a workload must be a mapping with model, batch and dimensions");
  BenchmarkCase base;
  base.kernel = "models";
  base.kind = CaseKind::model;
  base.dtype = "float32";
  AACO_ASSIGN(base.model, node.require_string("model"));
  return expand(node, base, cases);
}

core::Status read_timing(const YamlNode& root, BenchmarkSuite& suite) {
  AACO_ASSIGN(const auto rounds, root.optional_i64("rounds"));
  AACO_ASSIGN(const auto milliseconds, root.optional_f64("visit_ms"));
  AACO_ASSIGN(const auto precision, root.optional_f64("precision"));
  if (rounds && (*rounds < 1 || *rounds > 100)) return root.find("rounds")->error("rounds must be between 1 and 100");
  if (milliseconds && !(*milliseconds >= 1 && *milliseconds <= 600'000))
    return root.find("visit_ms")->error("visit_ms must be between 1 and 600000");
  if (precision && !(*precision > 0 && *precision < 1)) return root.find("precision")->error("precision must be between 0 and 1");
  suite.rounds = rounds.value_or(suite.rounds);
  if (milliseconds) suite.visit_ns = static_cast<std::int64_t>(*milliseconds * 1e6);
  suite.precision_ratio = precision.value_or(suite.precision_ratio);
  return {};
}

}  // namespace

std::string_view to_string(CaseKind kind) {
  switch (kind) {
    case CaseKind::gemm: return "gemm";
    case CaseKind::convolution: return "convolution";
    case CaseKind::attention: return "attention";
    case CaseKind::vector: return "vector";
    case CaseKind::transfer: return "transfer";
    case CaseKind::model: return "model";
  }
  return "";
}

core::Json to_json(const BenchmarkCase& one) {
  core::Json sizes = core::Json::object();
  for (const auto& [name, size] : one.sizes) sizes.set(name, size);
  core::Json out = core::Json::object(
      {{"id", one.id}, {"kernel", one.kernel}, {"kind", to_string(one.kind)}, {"dtype", one.dtype}, {"sizes", std::move(sizes)}});
  if (!one.op.empty()) out.set("op", one.op);
  if (!one.model.empty()) out.set("model", one.model);
  return out;
}

std::optional<BenchmarkCase> case_from_json(const core::Json& json) {
  BenchmarkCase one;
  one.id = json["id"].text();
  one.kernel = json["kernel"].text();
  one.dtype = json["dtype"].text();
  one.op = json["op"].text();
  one.model = json["model"].text();
  const auto kind =
      std::find_if(kKinds.begin(), kKinds.end(), [&](CaseKind each) { return to_string(each) == json["kind"].text(); });
  if (kind == kKinds.end() || one.id.empty() || !is_file_name(one.kernel) || !is_type(one.dtype)) return std::nullopt;
  one.kind = *kind;
  for (const auto& [name, size] : json["sizes"].members()) {
    const auto value = size.as_i64();
    if (!value || *value < 0) return std::nullopt;
    one.sizes[name] = *value;
  }
  for (const SizeRule& rule : sizes_of(one.kind))
    if (!one.sizes.contains(std::string(rule.name))) return std::nullopt;
  return one;
}

core::Result<BenchmarkSuite> parse_suite(std::string_view text, const std::string& name) {
  AACO_ASSIGN(const YamlNode root, YamlNode::parse(text, name));
  if (!root.is_mapping()) return root.error("a suite must be a mapping", "see docs/formats/benchmarks.md");
  AACO_TRY(root.only_keys({"schema", "suite", "rounds", "visit_ms", "precision", "kernels", "models"}));
  AACO_ASSIGN(const std::int64_t schema, root.require_i64("schema"));
  if (schema != kSchema)
    return root.find("schema")->error(fmt::format("schema {} is not supported", schema), "this version reads schema 1");
  BenchmarkSuite suite;
  AACO_ASSIGN(suite.name, root.require_string("suite"));
  AACO_TRY(read_timing(root, suite));
  for (const auto& [key, read] : {std::pair{"kernels", &read_kernel}, std::pair{"models", &read_model}}) {
    const YamlNode* list = root.find(key);
    if (list == nullptr) continue;
    if (!list->is_sequence()) return list->error(std::string(key) + " must be a list");
    for (const YamlNode& item : list->items()) AACO_TRY(read(item, suite.cases));
  }
  if (suite.cases.empty()) return root.error("the suite has neither kernels nor models");
  std::set<std::string> seen;  // a site that two lists name is one case
  std::erase_if(suite.cases, [&seen](const BenchmarkCase& one) { return !seen.insert(one.id).second; });
  return suite;
}

core::Result<std::vector<BenchmarkSuite>> load_suites(const std::string& selection, const core::Paths& paths) {
  std::vector<std::string> files;
  for (const char* shipped : {"micro", "workloads", "llm", "gpu"})
    if (selection == shipped || (selection == "all" && std::find(kForGpus.begin(), kForGpus.end(), shipped) == kForGpus.end()))
      files.push_back(core::join_path(paths.share, "data/benchmarks/" + std::string(shipped) + ".yaml"));
  if (files.empty()) {
    if (!selection.ends_with(".yaml"))
      return core::fail(core::ErrorCode::invalid_argument, "'" + selection + "' is not a suite",
                        "use micro, workloads, llm, gpu, all (micro and workloads), or FILE.yaml");
    files.push_back(selection);
  }
  std::vector<BenchmarkSuite> suites;
  for (const std::string& file : files) {
    constexpr std::int64_t kLimit = 16 << 20;
    AACO_ASSIGN(const std::string text, core::read_file(file, kLimit));
    AACO_ASSIGN(BenchmarkSuite suite, parse_suite(text, file));
    suites.push_back(std::move(suite));
  }
  return suites;
}

}  // namespace aaco::laboratory
