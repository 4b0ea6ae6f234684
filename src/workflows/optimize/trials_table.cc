#include <fmt/format.h>

#include "core/files.h"
#include "tracelake/lake.h"
#include "workflows/optimize/artifacts.h"

namespace aaco::workflows {
namespace {

std::string sql_text(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    if (c != '\0') out += c;
  }
  return out + "'";
}

std::string sql_number(double value, bool known) { return known ? fmt::format("{:.17g}", value) : "NULL"; }

std::string sql_row(const Trial& trial, std::size_t number) {
  core::Json values = core::Json::object();
  for (const auto& [axis, value] : trial.values) values.set(axis, value);
  const bool timed = trial.median_ns > 0;
  const auto& agreement = trial.agreement;
  return fmt::format(
      "({}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {})", number, sql_text(values.dump(-1)),
      sql_text(trial.outcome), trial.reason.empty() ? "NULL" : sql_text(trial.reason), trial.log_effects.size(), trial.pairs,
      sql_number(analytics::configsearch::typical_effect({0, trial.log_effects}), !trial.log_effects.empty()),
      sql_number(trial.median_ns, timed), sql_number(trial.p99_ns, timed), sql_number(trial.baseline_median_ns, timed),
      sql_number(trial.items_per_second(), timed), timed ? std::to_string(trial.batch) : "NULL",
      timed ? std::to_string(trial.load_ns) : "NULL", timed ? std::to_string(trial.rss_peak_bytes) : "NULL",
      sql_number(agreement ? agreement->max_error_ratio : 0, agreement.has_value()),
      sql_number(agreement ? agreement->cosine : 0, agreement.has_value()),
      sql_number(agreement && agreement->top1_ratio ? *agreement->top1_ratio : 0, agreement && agreement->top1_ratio));
}

constexpr const char* kTrialColumns =
    "CAST(trial AS BIGINT) AS trial, CAST(configuration AS VARCHAR) AS configuration, CAST(outcome AS VARCHAR) AS outcome, "
    "CAST(reason AS VARCHAR) AS reason, CAST(rounds AS BIGINT) AS rounds, CAST(pairs AS BIGINT) AS pairs, "
    "CAST(log_effect AS DOUBLE) AS log_effect, CAST(median_ns AS DOUBLE) AS median_ns, CAST(p99_ns AS DOUBLE) AS p99_ns, "
    "CAST(baseline_median_ns AS DOUBLE) AS baseline_median_ns, CAST(items_per_second AS DOUBLE) AS items_per_second, "
    "CAST(batch AS BIGINT) AS batch, CAST(load_ns AS BIGINT) AS load_ns, CAST(rss_peak_bytes AS BIGINT) AS rss_peak_bytes, "
    "CAST(max_error_ratio AS DOUBLE) AS max_error_ratio, CAST(cosine AS DOUBLE) AS cosine, "
    "CAST(top1_ratio AS DOUBLE) AS top1_ratio";
constexpr const char* kTrialNames =
    "trial, configuration, outcome, reason, rounds, pairs, log_effect, median_ns, p99_ns, baseline_median_ns, items_per_second, "
    "batch, load_ns, rss_peak_bytes, max_error_ratio, cosine, top1_ratio";

}  // namespace

core::Status write_trials_table(const std::vector<Trial>& trials, const std::string& folder) {
  if (trials.empty()) return {};
  std::string rows;
  for (std::size_t i = 0; i < trials.size(); ++i) rows += (i == 0 ? "" : ", ") + sql_row(trials[i], i);
  AACO_ASSIGN(const auto lake, tracelake::Lake::open(folder));
  return lake->query_to_parquet(fmt::format("SELECT {} FROM (VALUES {}) AS t({})", kTrialColumns, rows, kTrialNames),
                                core::join_path(folder, "trials.parquet"));
}

}  // namespace aaco::workflows
