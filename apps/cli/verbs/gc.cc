#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "core/numbers.h"
#include "workflows/store.h"

namespace aaco::cli {
namespace {

struct GcOptions {
  std::string keep_age, keep_size;
  bool dry_run = false;
  bool tagged_too = false;
};

void collect(Context& context, const GcOptions& options) {
  workflows::RetentionRequest request;
  request.dry_run = options.dry_run;
  request.keep_tagged = !options.tagged_too;
  if (!options.keep_age.empty()) {
    request.older_than_ns = core::parse_duration_ns(options.keep_age);
    if (!request.older_than_ns || *request.older_than_ns < 0)
      return context.fail({core::ErrorCode::invalid_argument,
                           "invalid value '" + options.keep_age + "' for '--older-than': expected a duration such as 30d",
                           {},
                           {}});
  }
  if (!options.keep_size.empty()) {
    request.keep_bytes = core::parse_bytes(options.keep_size);
    if (!request.keep_bytes || *request.keep_bytes < 0)
      return context.fail({core::ErrorCode::invalid_argument,
                           "invalid value '" + options.keep_size + "' for '--keep-size': expected a size such as 10GiB",
                           {},
                           {}});
  }
  if (!request.older_than_ns && !request.keep_bytes)
    return context.fail({core::ErrorCode::invalid_argument,
                         "missing '--older-than' or '--keep-size'",
                         "for example: aaco gc --older-than 30d",
                         {}});
  const auto outcome = workflows::collect_garbage(request, context.paths);
  if (!outcome) return context.fail(outcome.error());
  for (const auto& id : outcome->removed) context.print(id + "\n");
  for (const auto& problem : outcome->problems) context.note("not removed: " + problem);
  if (!outcome->problems.empty()) context.exit_code = kEnvironment;
  context.note(fmt::format("{} {} session{}, {}", options.dry_run ? "would remove" : "removed", outcome->removed.size(),
                           outcome->removed.size() == 1 ? "" : "s",
                           core::format_bytes(static_cast<double>(outcome->freed_bytes))));
  if (outcome->removed.empty() && request.keep_tagged) context.note("tagged sessions are kept; use --tagged-too to delete them");
}

}  // namespace

void add_gc(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("gc", "Remove old sessions by age or total size");
  auto options = std::make_shared<GcOptions>();
  verb->add_option("--older-than", options->keep_age, "Remove sessions older than this, e.g. 30d")->type_name("TIME");
  verb->add_option("--keep-size", options->keep_size, "Remove the oldest sessions until the total is below this, e.g. 10GiB")
      ->type_name("SIZE");
  verb->add_flag("--tagged-too", options->tagged_too, "Also remove tagged sessions");
  verb->add_flag("--dry-run", options->dry_run, "List what would be removed without removing it");
  verb->callback([&context, options] { collect(context, *options); });
}

}  // namespace aaco::cli
