#include "cli/options/predict_options.h"

#include <CLI/CLI.hpp>

#include "cli/options/dimension_list.h"
#include "cli/options/time_with_unit.h"
#include "cli/options/whole_number.h"
#include "core/numbers.h"
#include "core/strings.h"

namespace aaco::cli {

struct PredictOptions::Texts {
  std::optional<std::int64_t> batch;
  std::vector<std::string> dimensions;
  std::string level;
  std::optional<std::string> dtype, power_cap, host_time;
  bool eager = false, as_written = false;
};

namespace {

using core::ErrorCode;

core::Result<std::optional<double>> parse_watts(const std::optional<std::string>& text) {
  if (!text) return std::optional<double>();
  std::string_view number = core::trim(*text);
  if (number.ends_with('W')) number.remove_suffix(1);
  const auto watts = core::parse_f64(core::trim(number));
  if (!watts || !(*watts > 0) || *watts > 1e6)
    return core::fail(ErrorCode::invalid_argument, "invalid value '" + *text + "' for '--power-cap': expected watts such as 300");
  return std::optional(*watts);
}

}  // namespace

core::Result<std::vector<std::string>> split_list(const std::vector<std::string>& texts, const std::string& option) {
  std::string all;  // "A, B" comes as two texts, the first with its comma
  for (const std::string& text : texts) {
    if (!all.empty() && !core::trim(all).ends_with(',')) all += ',';
    all += text;
  }
  std::vector<std::string> parts;
  if (texts.empty()) return parts;
  for (const std::string_view part : core::split(all, ',')) {
    if (core::trim(part).empty())
      return core::fail(ErrorCode::invalid_argument, "empty entry in '" + all + "' for '" + option + "'",
                        "remove the extra comma, or check for an empty shell variable");
    parts.emplace_back(core::trim(part));
  }
  return parts;
}

PredictOptions::PredictOptions(CLI::App& app) : texts_(std::make_unique<Texts>()) {
  Texts& t = *texts_;
  app.add_option("--batch", t.batch, "Batch size")->check(positive_count());
  app.add_option("--dim", t.dimensions, "Sizes of symbolic dimensions, NAME=SIZE,...")
      ->type_name("NAME=SIZE")
      ->allow_extra_args(false);
  app.add_option("--dtype", t.dtype, "Data type for floating-point operations: fp32, tf32, fp16, bf16, fp8, int8 ...");
  app.add_option("--power-cap", t.power_cap, "Device power limit in watts; lowers the clock")->type_name("WATTS");
  app.add_option("--host-time", t.host_time, "Host time per node launch, e.g. 5us (default: a typical value for the device)")
      ->type_name("TIME");
  app.add_flag("--eager", t.eager, "Assume eager execution: no fusion, more host time per node");
  app.add_flag(
      "--as-written", t.as_written,
      "Cost a language model's graph operator by operator, not as serving stacks run it (GPUs; default for other graphs)");
  app.add_option("--level", t.level, "Highest level of estimates to use")
      ->check(CLI::IsMember({"calibrated", "interpolated", "theoretical"}));
}

PredictOptions::~PredictOptions() = default;

core::Result<workflows::AnalyzeRequest> PredictOptions::resolve() const {
  const Texts& t = *texts_;
  workflows::AnalyzeRequest request;
  request.model.batch = t.batch;
  AACO_ASSIGN(request.model.dimensions, parse_dimensions(t.dimensions));
  if (t.dtype && core::trim(*t.dtype).empty())
    return core::fail(ErrorCode::invalid_argument, "missing value for '--dtype'", "for example --dtype fp16");
  request.conditions.dtype = t.dtype ? std::string(core::trim(*t.dtype)) : std::string();
  AACO_ASSIGN(request.conditions.power_cap_watts, parse_watts(t.power_cap));
  if (t.host_time) {
    AACO_ASSIGN(const std::int64_t ns, time_with_unit(*t.host_time, "--host-time", "5us"));
    request.conditions.host_ns = static_cast<double>(ns);
  }
  request.conditions.eager = t.eager;
  request.conditions.as_written = t.as_written;
  if (const auto level = estimation::level_from_string(t.level)) request.conditions.best = *level;
  return request;
}

}  // namespace aaco::cli
