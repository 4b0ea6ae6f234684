#include <algorithm>
#include <array>
#include <utility>

#include "analytics/gap_causes.h"
#include "core/strings.h"
#include "trace/api_domains.h"

namespace aaco::analytics::gaps {
namespace {

constexpr std::array<std::string_view, 5> kClasses = {"host", "launch", "warmup", "dependency", "cannot-tell"};
constexpr std::array<std::string_view, 6> kDomains = {"runtime", "cpu_op", "python", "range", "overhead", "os"};
constexpr std::size_t kMaxCauses = 200;

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

core::Result<bool> flag(const core::YamlNode& node, std::string_view key) {
  AACO_ASSIGN(const auto value, node.optional_bool(key));
  return value.value_or(false);
}

}  // namespace

std::string idle_metric(std::string_view cause) {
  return std::string(kIdleMetrics) + core::replace_all(std::string(cause), "-", "_") + "_ns";
}

std::optional<HostDomain> host_domain(std::string_view domain) {
  if (trace::is_gpu_runtime(domain)) return HostDomain::runtime;
  if (domain == "cpu_op") return HostDomain::cpu_op;
  if (domain == "python") return HostDomain::python;
  if (domain == "annotation" || domain == "marker") return HostDomain::range;
  if (domain == "profiler_overhead") return HostDomain::overhead;
  if (domain == "os") return HostDomain::os;
  return std::nullopt;
}

core::Result<CauseBook> CauseBook::load(const std::string& path) {
  AACO_ASSIGN(const core::YamlNode document, core::YamlNode::load(path));
  return parse(document);
}

core::Result<CauseBook> CauseBook::parse(const core::YamlNode& document) {
  AACO_TRY(document.only_keys({"schema", "causes", "patterns"}));
  AACO_ASSIGN(const std::int64_t schema, document.require_i64("schema"));
  if (schema != 1) return document.error("schema " + std::to_string(schema) + " is not supported; this version reads schema 1");
  CauseBook book;
  AACO_ASSIGN(const core::YamlNode* causes, document.require("causes"));
  for (const core::YamlNode& node : causes->items()) AACO_TRY(book.read_cause(node));
  AACO_ASSIGN(const core::YamlNode* patterns, document.require("patterns"));
  for (const core::YamlNode& node : patterns->items()) AACO_TRY(book.read_pattern(node));
  AACO_TRY(book.find_own(document));
  return book;
}

core::Status CauseBook::read_cause(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"id", "class", "title", "remedy", "weak", "any_thread", "waits", "gives_way_to"}));
  NamedCause cause;
  AACO_ASSIGN(cause.id, node.require_string("id"));
  AACO_ASSIGN(cause.class_id, node.require_string("class"));
  AACO_ASSIGN(cause.title, node.require_string("title"));
  AACO_ASSIGN(cause.remedy, node.require_string("remedy"));
  AACO_ASSIGN(cause.weak, flag(node, "weak"));
  AACO_ASSIGN(cause.any_thread, flag(node, "any_thread"));
  AACO_ASSIGN(cause.waits, flag(node, "waits"));
  if (std::find(kClasses.begin(), kClasses.end(), cause.class_id) == kClasses.end())
    return node.error("'" + cause.class_id + "' is not a class of idle time (host, launch, warmup, dependency, cannot-tell)");
  if (find(cause.id)) return node.error("duplicate cause '" + cause.id + "'");
  AACO_ASSIGN(const auto enclosing, node.optional_string("gives_way_to"));
  if (enclosing) {
    cause.gives_way_to = find(*enclosing);
    if (!cause.gives_way_to) return node.error("'" + *enclosing + "' is not a cause listed before this one");
  }
  if (causes_.size() == kMaxCauses) return node.error("more than " + std::to_string(kMaxCauses) + " causes");
  causes_.push_back(std::move(cause));
  return {};
}

core::Status CauseBook::read_pattern(const core::YamlNode& node) {
  AACO_TRY(node.only_keys({"cause", "domains", "any", "none", "alone"}));
  Pattern pattern;
  AACO_ASSIGN(const std::string id, node.require_string("cause"));
  const auto cause = find(id);
  if (!cause) return node.error("'" + id + "' is not a cause of this file");
  pattern.cause = *cause;
  AACO_ASSIGN(const auto domains, texts(node, "domains"));
  for (const std::string& name : domains) {
    const auto place = std::find(kDomains.begin(), kDomains.end(), name);
    if (place == kDomains.end())
      return node.error("'" + name + "' is not a domain (runtime, cpu_op, python, range, overhead, os)");
    pattern.domains.push_back(static_cast<HostDomain>(place - kDomains.begin()));
  }
  AACO_ASSIGN(pattern.any, texts(node, "any"));
  AACO_ASSIGN(pattern.none, texts(node, "none"));
  AACO_ASSIGN(pattern.alone, flag(node, "alone"));
  if (pattern.domains.empty() && pattern.any.empty()) return node.error("a pattern needs domains or any");
  patterns_.push_back(std::move(pattern));
  return {};
}

core::Status CauseBook::find_own(const core::YamlNode& document) {
  const std::array<std::pair<std::string_view, CauseIndex*>, 30> needed = {
      {{"first-use", &own_.first_use},
       {"launch", &own_.launch},
       {"launch-latency", &own_.launch_latency},
       {"device-latency", &own_.device_latency},
       {"graph-launch", &own_.graph_launch},
       {"synchronisation", &own_.synchronisation},
       {"synchronous-copy", &own_.synchronous_copy},
       {"cpu-contention", &own_.cpu_contention},
       {"disk", &own_.disk},
       {"sleep", &own_.sleep},
       {"python", &own_.python},
       {"unknown", &own_.unknown},
       {"lock", &own_.lock},
       {"queue-full", &own_.queue_full},
       {"blocked-launch", &own_.blocked_launch},
       {"framework", &own_.framework},
       {"host-code", &own_.host_code},
       {"host-operator", &own_.host_operator},
       {"start-up", &own_.start_up},
       {"allocation", &own_.allocation},
       {"first-allocation", &own_.first_allocation},
       {"collective-launch", &own_.collective_launch},
       {"library-initialisation", &own_.library_initialisation},
       {"model-loading", &own_.model_loading},
       {"weight-streaming", &own_.weight_streaming},
       {"stream-event", &own_.stream_event},
       {"peer-device", &own_.peer_device},
       {"host-function", &own_.host_function},
       {"stream-value", &own_.stream_value},
       {"jit-compilation", &own_.jit_compilation}}};
  for (const auto& [id, index] : needed) {
    const auto found = find(id);
    if (!found) return document.error("cause '" + std::string(id) + "' is missing");
    *index = *found;
  }
  return {};
}

std::optional<CauseIndex> CauseBook::find(std::string_view id) const {
  for (std::size_t i = 0; i < causes_.size(); ++i)
    if (causes_[i].id == id) return static_cast<CauseIndex>(i);
  return std::nullopt;
}

std::optional<CauseIndex> CauseBook::match(HostDomain domain, std::string_view name) const {
  return first_match(domain, name, false);
}

std::optional<CauseIndex> CauseBook::match_alone(HostDomain domain, std::string_view name) const {
  return first_match(domain, name, true);
}

std::optional<CauseIndex> CauseBook::first_match(HostDomain domain, std::string_view name, bool alone) const {
  const std::string lower = core::to_lower(name);
  const auto in_name = [&](const std::string& part) { return lower.find(part) != std::string::npos; };
  for (const Pattern& pattern : patterns_) {
    if (pattern.alone != alone) continue;
    if (!pattern.domains.empty() && std::find(pattern.domains.begin(), pattern.domains.end(), domain) == pattern.domains.end())
      continue;
    if (!pattern.any.empty() && std::none_of(pattern.any.begin(), pattern.any.end(), in_name)) continue;
    if (std::none_of(pattern.none.begin(), pattern.none.end(), in_name)) return pattern.cause;
  }
  return std::nullopt;
}

}  // namespace aaco::analytics::gaps
