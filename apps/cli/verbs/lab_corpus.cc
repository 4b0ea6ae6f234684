#include "cli/verbs/lab_corpus.h"

#include <fmt/format.h>

#include "cli/options/run_options.h"
#include "core/numbers.h"
#include "core/strings.h"
#include "workflows/lab_corpus.h"

namespace aaco::cli {
namespace {

using laboratory::corpus::Judgement;
using laboratory::corpus::Score;
using laboratory::corpus::Share;
using laboratory::corpus::Tally;

std::string share_text(const Share& share) {
  return share.count > 0 ? fmt::format("{}/{} {}", share.right, share.count, core::format_percent(share.ratio())) : "-";
}

std::string row(std::string_view name, const Tally& tally) {
  return fmt::format("  {:<28} {:<16} {:<16} {:<16} {:<16} {:>8} {:>10}\n", name, share_text(tally.first),
                     share_text(tally.in_two), share_text(tally.cause), share_text(tally.unknown), tally.violations,
                     tally.sure_and_wrong);
}

std::string claim_text(const Judgement& one) {
  const auto& answer = one.answer;
  return fmt::format("  {:<44} said {}{}{}; true: {}{}{}\n", one.id, answer.class_id.empty() ? "" : answer.class_id + "/",
                     answer.cause.empty() ? "no cause" : answer.cause,
                     answer.confidence ? " (" + core::format_percent(*answer.confidence) + ")" : "",
                     one.truth_class.empty() ? "" : one.truth_class + "/", one.truth_cause,
                     one.violations.empty() ? "" : "; must not say " + core::join(one.violations, ", "));
}

std::string calibration_text(const Score& score) {
  const auto& calibration = score.calibration;
  if (calibration.claims == 0) return "no claim states a confidence\n";
  std::string text =
      fmt::format("calibration error {:.3f} (95 % interval {:.3f} to {:.3f}) over {} claims\n  confidence  claims  true\n",
                  calibration.error_ratio, calibration.low, calibration.high, calibration.claims);
  for (const auto& bin : calibration.bins)
    text += fmt::format("  {:<10}  {:>6}  {}\n", core::format_percent(bin.confidence), bin.count,
                        core::format_percent(bin.right_ratio));
  return text;
}

}  // namespace

void score_against_corpus(Context& context, const CorpusOptions& options, bool json) {
  workflows::CorpusRequest request{options.folder, options.data, options.show_held};
  const workflows::Services services = make_services(context);
  if (request.data.empty()) request.data = services.environment.get("AACO_REAL_DATA").value_or("../shared/data");
  const auto report = workflows::score_corpus(request, services);
  context.progress("");
  if (!report) return context.fail(report.error());
  if (json) return context.print_json(to_json(*report));
  const Score& tune = report->tune;
  context.print(fmt::format("{} files; {} cases without data\n\n", report->files, report->missing));
  context.print(fmt::format("  {:<28} {:<16} {:<16} {:<16} {:<16} {:>8} {:>10}\n", "", "class first", "class in two", "cause",
                            "unknown", "must not", "sure+wrong"));
  context.print(row("tune", tune.all) + row("held", report->held.all));
  for (const char* key : {"kind", "origin", "format", "class", "cause"})
    if (const auto group = tune.groups.find(key); group != tune.groups.end()) {
      context.print(fmt::format("\ntune by {}\n", key));
      for (const auto& [name, tally] : group->second) context.print(row(name, tally));
    }
  context.print("\nheld by kind\n");
  if (const auto group = report->held.groups.find("kind"); group != report->held.groups.end())
    for (const auto& [name, tally] : group->second) context.print(row(name, tally));
  context.print("\ntune: " + calibration_text(tune) + "\nheld: " + calibration_text(report->held));
  context.print("\nstated above 90 % and false\n");
  for (const Judgement& one : tune.sure_and_wrong) context.print(claim_text(one));
  if (report->shows_held)
    for (const Judgement& one : report->held.sure_and_wrong) context.print(claim_text(one));
  context.print("\nclaims that must not be made\n");
  for (const Judgement& one : tune.violations) context.print(claim_text(one));
  if (report->shows_held)
    for (const Judgement& one : report->held.violations) context.print(claim_text(one));
}

}  // namespace aaco::cli
