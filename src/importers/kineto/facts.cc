#include "importers/kineto/facts.h"

#include <array>
#include <cctype>
#include <utility>

#include "core/numbers.h"
#include "core/strings.h"
#include "importers/kineto.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::kineto {
namespace {

using core::Json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kPlainFacts = {{
    {"schemaVersion", "schema_version"},
    {"deviceProperties", "devices"},
    {"distributedInfo", "distributed"},
    {"baseTimeNanoseconds", "base_time_ns"},
    {"record_shapes", "record_shapes"},
    {"with_stack", "with_stack"},
    {"with_flops", "with_flops"},
    {"with_modules", "with_modules"},
    {"profile_memory", "profile_memory"},
    {"traceName", "trace_name"},
    {"displayTimeUnit", "display_time_unit"},
}};

constexpr std::size_t kLargestFact = std::size_t{64} << 10;

void set_fact(std::string_view key, const std::string& text, Json& facts, Json& versions) {
  if (text.size() > kLargestFact) return;
  auto value = Json::parse(text);
  if (!value) return;
  if (key.ends_with("_version") || key == "roctracer_version") {
    versions.set(key, std::move(*value));
    return;
  }
  for (const auto& [theirs, ours] : kPlainFacts)
    if (theirs == key) facts.set(ours, std::move(*value));
}

std::optional<std::int64_t> rank_in_text(std::string_view text) {
  const auto info = text.find("\"distributedInfo\"");
  if (info == std::string_view::npos) return std::nullopt;
  const auto close = text.find('}', info);
  const auto key = text.find("\"rank\"", info);
  if (key == std::string_view::npos || key > close) return std::nullopt;
  const auto digits = text.find_first_of("0123456789", key);
  if (digits == std::string_view::npos || digits > close) return std::nullopt;
  const auto end = text.find_first_not_of("0123456789", digits);
  return token_i64(text.substr(digits, end == std::string_view::npos ? end : end - digits));
}

}  // namespace

void read_facts(const DocumentEnd& document, ImportResult& result) {
  Json versions = Json::object();
  if (!result.facts.is_object()) result.facts = Json::object();
  for (const auto& [key, text] : document.members) set_fact(key, text, result.facts, versions);
  if (!versions.members().empty()) result.facts.set("versions", std::move(versions));
  const Json& distributed = result.facts["distributed"];
  result.rank = distributed["rank"].as_i64();
  if (result.rank && (*result.rank < 0 || *result.rank > INT32_MAX)) result.rank.reset();
  for (const char* key : {"hostname", "host", "host_name"})
    if (const auto host = distributed[key].as_string(); host && result.host.empty()) result.host = *host;
  if (document.large_members > 0)
    result.account.notes.push_back(std::to_string(document.large_members) +
                                   " top-level JSON values larger than 4 MiB were dropped");
}

std::optional<std::int64_t> rank_in_name(std::string_view file_name) {
  const std::string lower = core::to_lower(file_name);
  std::optional<std::int64_t> rank;
  for (std::size_t at = lower.find("rank"); at != std::string::npos; at = lower.find("rank", at + 1)) {
    std::size_t digits = at + 4;
    if (digits < lower.size() && (lower[digits] == '_' || lower[digits] == '-')) ++digits;
    std::size_t end = digits;
    while (end < lower.size() && end - digits < 9 && std::isdigit(static_cast<unsigned char>(lower[end])) != 0) ++end;
    if (end > digits) rank = core::parse_i64(lower.substr(digits, end - digits));
  }
  return rank;
}

std::optional<std::int64_t> rank_of(std::string_view head, std::string_view tail, std::string_view file_name) {
  if (const auto rank = rank_in_text(head)) return rank;
  if (const auto rank = rank_in_text(tail)) return rank;
  return rank_in_name(file_name);
}

}  // namespace aaco::importers::kineto
