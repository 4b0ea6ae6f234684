#include "python/module/options.h"

#include <utility>

#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::python {

using core::ErrorCode;
using core::Json;

const Json& OptionReader::take(std::string_view name) {
  known_.emplace(name);
  return options_[name];
}

void OptionReader::refuse(std::string message, std::string remedy) {
  if (problem_) problem_ = core::fail(ErrorCode::invalid_argument, std::move(message), std::move(remedy));
}

void OptionReader::expect(std::string_view name, std::string_view expected) {
  refuse("invalid value " + options_[name].dump(-1) + " for '" + std::string(name) + "': expected " + std::string(expected));
}

void OptionReader::text(std::string_view name, std::string& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  if (!value.is_string()) return expect(name, "a string");
  to = value.text();
}

void OptionReader::texts(std::string_view name, std::vector<std::string>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  if (value.is_string()) {
    to = {std::string(value.text())};
    return;
  }
  if (!value.is_array()) return expect(name, "a string or a list of strings");
  to.clear();
  for (const Json& item : value.items()) {
    if (!item.is_string()) return expect(name, "a list of strings");
    to.emplace_back(item.text());
  }
}

void OptionReader::flag(std::string_view name, bool& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  if (const auto flag = value.as_bool())
    to = *flag;
  else
    expect(name, "True or False");
}

void OptionReader::number(std::string_view name, std::optional<double>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  to = value.as_f64();
  if (!to) expect(name, "a number");
}

void OptionReader::integer(std::string_view name, std::optional<std::int64_t>& to, std::int64_t least) {
  const Json& value = take(name);
  if (value.is_null()) return;
  const auto whole = value.is_number() ? value.as_i64() : std::nullopt;
  if (!whole || *whole < least) return expect(name, "an integer of at least " + std::to_string(least));
  to = whole;
}

void OptionReader::time(std::string_view name, std::optional<core::Nanoseconds>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  std::optional<std::int64_t> ns;
  constexpr double kMaxSeconds = 9e9;
  if (value.is_string()) ns = core::parse_duration_ns(value.text());
  if (const auto seconds = value.as_f64(); seconds && *seconds < kMaxSeconds) ns = static_cast<std::int64_t>(*seconds * 1e9);
  if (!ns || *ns <= 0) return expect(name, "seconds, or a duration such as '10s' or '500ms'");
  to = core::Nanoseconds(*ns);
}

void OptionReader::ratio(std::string_view name, std::optional<double>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  const auto ratio = value.is_string() ? core::parse_ratio(value.text()) : value.as_f64();
  if (!ratio || *ratio <= 0 || *ratio >= 1) return expect(name, "a ratio between 0 and 1 such as 0.05 or '5%'");
  to = ratio;
}

void OptionReader::sizes(std::string_view name, std::map<std::string, std::int64_t>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  if (!value.is_object()) return expect(name, "a dict of sizes such as {'sequence': 64}");
  for (const auto& [key, size] : value.members()) {
    const auto whole = size.is_number() ? size.as_i64() : std::nullopt;
    if (!whole || *whole <= 0) return expect(name, "a dict of sizes such as {'sequence': 64}");
    to[key] = *whole;
  }
}

void OptionReader::shapes(std::string_view name, std::map<std::string, std::vector<std::int64_t>>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  constexpr std::string_view kExpected = "a dict of shapes such as {'input': [1, 3, 224, 224]}";
  if (!value.is_object()) return expect(name, kExpected);
  for (const auto& [key, shape] : value.members()) {
    if (!shape.is_array()) return expect(name, kExpected);
    for (const Json& size : shape.items()) {
      const auto whole = size.is_number() ? size.as_i64() : std::nullopt;
      if (!whole || *whole < 0) return expect(name, kExpected);
      to[key].push_back(*whole);
    }
  }
}

void OptionReader::map(std::string_view name, std::map<std::string, std::string>& to) {
  const Json& value = take(name);
  if (value.is_null()) return;
  if (!value.is_object()) return expect(name, "a dict of strings");
  for (const auto& [key, member] : value.members()) to[key] = member.is_string() ? std::string(member.text()) : member.dump(-1);
}

void OptionReader::one_of(std::string_view name, std::string& to, const std::vector<std::string>& values) {
  text(name, to);
  const Json& value = options_[name];
  if (!value.is_string()) return;
  for (const std::string& one : values)
    if (one == to) return;
  expect(name, "one of " + core::join(values, ", "));
}

core::Status OptionReader::finish() {
  if (!problem_) return problem_;
  for (const auto& [name, value] : options_.members())
    if (!known_.contains(name))
      return core::fail(ErrorCode::invalid_argument, call_ + " has no option '" + name + "'",
                        "options: " + core::join(std::vector<std::string>(known_.begin(), known_.end()), ", "));
  return {};
}

namespace {

constexpr double kMaxDelayRatio = 10;
constexpr std::int64_t kMaxDelayNs = 60'000'000'000;

// Seconds, "200us", or "5%" of the call's own time.
void read_delay(OptionReader& reader, const Json& value, workflows::InjectedDelay& delay) {
  std::string ignored;
  if (value.is_number()) {
    delay.ns = static_cast<std::int64_t>(*value.as_f64() * 1e9);
    std::optional<double> number;
    reader.number("inject_delay", number);
  } else {
    reader.text("inject_delay", ignored);
    if (ignored.empty()) return;
    const auto ratio = ignored.ends_with('%') ? core::parse_ratio(ignored) : std::nullopt;
    const auto ns = ratio ? std::nullopt : core::parse_duration_ns(ignored);
    delay.ratio = ratio.value_or(0);
    delay.ns = ns.value_or(ratio ? 0 : -1);
  }
  if (delay.ns < 0 || delay.ns > kMaxDelayNs || delay.ratio < 0 || delay.ratio > kMaxDelayRatio)
    reader.refuse("invalid value " + value.dump(-1) +
                  " for 'inject_delay': expected a ratio such as '5%' or a duration such as "
                  "'200us'");
}

void read_model(OptionReader& reader, workflows::RunRequest& request) {
  reader.text("model", request.model);
  reader.text("backend", request.backend);
  reader.integer("batch", request.batch, 1);
  reader.sizes("dims", request.dimensions);
  reader.shapes("shapes", request.shapes);
  reader.map("inputs", request.inputs);
  reader.map("provider_options", request.provider_options);
  std::optional<std::int64_t> threads, seed;
  reader.integer("threads", threads, 1);
  if (threads) request.threads = static_cast<int>(*threads);
  reader.one_of("graph_level", request.graph_level, {"disabled", "basic", "extended", "all"});
  reader.integer("seed", seed, 0);
  if (seed) request.seed = static_cast<std::uint64_t>(*seed);
  reader.text("ort_library", request.ort_library);
  reader.text("dtype", request.dtype);
  reader.flag("allow_fallback", request.allow_fallback);
  reader.integer("warmup", request.warmup, 0);
  if (request.model.empty()) reader.refuse("no model given", "for example: model='resnet50'");
}

void read_measuring(OptionReader& reader, workflows::RunRequest& request) {
  reader.integer("iterations", request.iterations, 1);
  reader.time("duration", request.duration);
  reader.ratio("precision", request.precision_ratio);
  reader.text("tag", request.tag);
  reader.flag("telemetry", request.telemetry);
  std::optional<core::Nanoseconds> period;
  reader.time("telemetry_period", period);
  if (period && period->count() < 5'000'000) reader.refuse("invalid value for 'telemetry_period': the minimum is 5ms");
  if (period) request.telemetry_period = *period;
  reader.flag("ebpf", request.ebpf);
  reader.flag("profile", request.profile);
  std::vector<std::string> domains, counters;
  reader.texts("profile_domains", domains);
  reader.texts("counters", counters);
  request.profile_domains = core::join(domains, ",");
  request.counters = core::join(counters, ",");
  if (!request.profile && (!domains.empty() || !counters.empty()))
    reader.refuse("profile_domains and counters require profile=True", "add profile=True");
  reader.text("isolate", request.isolation.level);
  reader.texts("isolate_set", request.isolation.changes);
  reader.flag("drop_disturbed", request.drop_disturbed);
}

}  // namespace

core::Result<workflows::RunRequest> run_request(const Json& options) {
  workflows::RunRequest request;
  OptionReader reader(options, "run()");
  read_model(reader, request);
  read_measuring(reader, request);
  read_delay(reader, options["inject_delay"], request.delay);
  AACO_TRY(reader.finish());
  return request;
}

core::Result<workflows::AbSide> ab_side(const Json& options, const std::string& side) {
  workflows::AbSide made;
  OptionReader reader(options, side + " of ab()");
  read_model(reader, made.request);
  read_delay(reader, options["inject_delay"], made.delay);
  if (auto read = reader.finish(); !read) return tl::unexpected<core::Error>(std::move(read).error().with(side));
  return made;
}

}  // namespace aaco::python
