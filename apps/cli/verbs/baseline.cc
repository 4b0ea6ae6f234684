#include "workflows/baseline.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/options/list_and_ratio.h"
#include "cli/options/run_options.h"
#include "core/clock.h"
#include "core/files.h"
#include "core/numbers.h"
#include "report/quantity.h"

namespace aaco::cli {
namespace {

using core::Json;

struct BaselineOptions {
  workflows::BaselineRequest request;
  std::string sessions, metrics, budget = "5%", lifetime, name, by;
  bool json = false;
};

std::int64_t now() { return core::SystemClock().now_ns(core::ClockId::realtime); }

core::Status resolve(BaselineOptions& options) {
  auto& request = options.request;
  AACO_ASSIGN(request.loss_ratio, parse_threshold(options.budget, "--budget"));
  request.sessions = list_of(options.sessions);
  request.metrics = list_of(options.metrics);
  if (options.lifetime.empty()) return {};
  const auto ns = core::parse_duration_ns(options.lifetime);
  if (!ns || *ns <= 0)
    return core::fail(core::ErrorCode::invalid_argument,
                      "invalid value '" + options.lifetime + "' for '--expires': expected a duration such as 90d");
  request.lifetime_ns = *ns;
  return {};
}

void add(Context& context, BaselineOptions& options) {
  if (const auto resolved = resolve(options); !resolved) return context.fail(resolved.error());
  const auto path = workflows::add_baseline(options.request, make_services(context));
  if (!path) return context.fail(path.error());
  context.progress("");
  context.print(*path + "\n");
  context.note("review it, then: aaco baseline approve " + options.request.name + " --by NAME");
}

std::string state_of(const governance::Baseline& baseline) {
  if (expired(baseline, now())) return "expired";
  switch (approval_state(baseline)) {
    case governance::Approved::yes: return "approved";
    case governance::Approved::no: return "not approved";
    case governance::Approved::changed_since: return "changed since approval";
  }
  return "";
}

void list(Context& context, const BaselineOptions& options) {
  const auto services = make_services(context);
  const auto entries = workflows::list_baselines(services);
  if (!entries) return context.fail(entries.error());
  Json all = Json::array();
  for (const auto& entry : *entries) {
    if (!entry.baseline) {
      all.push(Json::object({{"path", entry.path}, {"error", entry.baseline.error().message}}));
      if (!options.json)
        context.print(fmt::format("{:<28} unreadable: {}\n", core::base_name(entry.path), entry.baseline.error().message));
      continue;
    }
    all.push(workflows::to_json(*entry.baseline, now()).set("path", entry.path));
    if (!options.json)
      context.print(fmt::format("{:<28} {:<26} {:<20} {} from {} sessions\n", entry.baseline->name, state_of(*entry.baseline),
                                entry.baseline->owner, entry.baseline->decides, entry.baseline->sessions.size()));
  }
  if (options.json)
    return context.print_json(
        Json::object({{"schema_version", 1}, {"folder", workflows::baseline_folder(services)}, {"baselines", std::move(all)}}));
  if (entries->empty())
    context.note("no baselines in " + workflows::baseline_folder(services) +
                 "; create one with 'aaco baseline add NAME SESSION --owner OWNER'");
}

void print_baseline(const Context& context, const governance::Baseline& baseline, const std::string& path) {
  context.print(fmt::format("{}: {}\n  file     {}\n  owner    {}\n", baseline.name, state_of(baseline), path, baseline.owner));
  if (!baseline.reason.empty()) context.print("  reason   " + baseline.reason + "\n");
  context.print("  created  " + core::iso8601_utc(baseline.created_realtime_ns) + "\n");
  if (baseline.expires_realtime_ns) context.print("  expires  " + core::iso8601_utc(*baseline.expires_realtime_ns) + "\n");
  if (baseline.approval)
    context.print(
        fmt::format("  approved by {} at {}\n", baseline.approval->by, core::iso8601_utc(baseline.approval->at_realtime_ns)));
  for (const auto& [id, budget] : baseline.budgets)
    context.print(fmt::format("  {:<32} may {} by {}{}\n", id, budget.lower_is_better ? "grow" : "shrink",
                              core::format_percent(budget.loss_ratio), id == baseline.decides ? ", decides the verdict" : ""));
  for (const auto& session : baseline.sessions) {
    const auto* value = find_metric(session.metrics, baseline.decides);
    const std::string text =
        value == nullptr ? "" : ", " + report::format_quantity(value->value, report::unit_of_metric(value->id, value->unit));
    context.print(fmt::format("  session  {}  {} iterations{}\n", session.id, session.measured_count, text));
  }
}

void show(Context& context, const BaselineOptions& options) {
  const auto path = workflows::find_baseline(options.name, make_services(context));
  if (!path) return context.fail(path.error());
  const auto baseline = workflows::load_baseline(*path);
  if (!baseline) return context.fail(baseline.error());
  if (options.json) return context.print_json(workflows::to_json(*baseline, now()).set("schema_version", 1).set("path", *path));
  print_baseline(context, *baseline, *path);
}

void approve(Context& context, const BaselineOptions& options) {
  const auto path = workflows::find_baseline(options.name, make_services(context));
  if (!path) return context.fail(path.error());
  if (const auto approved = workflows::approve_baseline(*path, options.by); !approved) return context.fail(approved.error());
  context.note(*path + " approved by " + options.by);
}

void remove(Context& context, const BaselineOptions& options) {
  const auto path = workflows::find_baseline(options.name, make_services(context));
  if (!path) return context.fail(path.error());
  // Only what is a baseline is removed.
  if (const auto baseline = workflows::load_baseline(*path); !baseline) return context.fail(baseline.error());
  if (const auto removed = core::remove_tree(*path); !removed) return context.fail(removed.error());
  context.note("removed " + *path);
}

void add_adding(CLI::App& verb, Context& context, const std::shared_ptr<BaselineOptions>& options) {
  CLI::App* adding = verb.add_subcommand("add", "Create a baseline from comparable sessions");
  auto& request = options->request;
  adding->add_option("name", request.name, "Baseline name: letters, digits, '.', '_' and '-'")->required();
  adding
      ->add_option("sessions", options->sessions,
                   "Sessions: ID,ID,... or tag:NAME; three or more also give the run-to-run variation")
      ->required();
  adding->add_option("--owner", request.owner, "Person or team responsible for the baseline")->required();
  adding->add_option("--reason", request.reason, "Reason for the accepted values");
  adding->add_option(
      "--metric", options->metrics,
      "Metrics with budgets; the first one decides the verdict: p50=3%,p99=10%,throughput (default: the standard set)");
  adding->add_option("--budget", options->budget, "Budget for metrics without one: how much they may get worse")
      ->capture_default_str();
  adding->add_option("--expires", options->lifetime, "Lifetime of the baseline, e.g. 90d");
  adding->add_flag("--replace", request.replace, "Replace an existing baseline with this name");
  adding->callback([&context, options] { add(context, *options); });
}

CLI::App* add_naming(CLI::App& verb, const char* name, const char* about, const std::shared_ptr<BaselineOptions>& options) {
  CLI::App* one = verb.add_subcommand(name, about);
  one->add_option("name", options->name, "Baseline name or file")->required();
  return one;
}

}  // namespace

void add_baseline(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("baseline", "Manage baselines: reviewable files with owner, approval, expiry and budgets");
  verb->require_subcommand(1);
  auto options = std::make_shared<BaselineOptions>();
  add_adding(*verb, context, options);
  CLI::App* listing = verb->add_subcommand("ls", "List baselines");
  listing->add_flag("--json", options->json, "Print JSON");
  listing->callback([&context, options] { list(context, *options); });
  CLI::App* showing = add_naming(*verb, "show", "Show a baseline", options);
  showing->add_flag("--json", options->json, "Print JSON");
  showing->callback([&context, options] { show(context, *options); });
  CLI::App* approving = add_naming(*verb, "approve", "Approve a baseline in its current state", options);
  approving->add_option("--by", options->by, "Your name")->required();
  approving->callback([&context, options] { approve(context, *options); });
  add_naming(*verb, "rm", "Remove a baseline", options)->callback([&context, options] { remove(context, *options); });
  verb->footer(
      "Baselines are files in $AACO_BASELINES (default: ./baselines). Keep them under version control.\n\n"
      "Example:\n  aaco baseline add resnet50 tag:release --owner perf-team --metric p50=3%,p99=10% --expires 90d");
}

}  // namespace aaco::cli
