#include "workflows/store.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/context.h"
#include "cli/verbs.h"
#include "core/numbers.h"

namespace aaco::cli {
namespace {

void verify(Context& context, const std::string& name, bool json) {
  const auto findings = workflows::verify(name, context.paths);
  if (!findings) return context.fail(findings.error());
  if (!findings->empty()) context.exit_code = kEnvironment;
  if (json) {
    core::Json list = core::Json::array();
    for (const auto& finding : *findings) list.push(core::Json::object({{"file", finding.file}, {"problem", finding.problem}}));
    return context.print_json(
        core::Json::object({{"schema_version", 1}, {"intact", findings->empty()}, {"findings", std::move(list)}}));
  }
  if (findings->empty()) return context.print("intact: every file has its recorded hash\n");
  for (const auto& finding : *findings) context.print(fmt::format("{}: {}\n", finding.file, finding.problem));
}

void add_verify(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("verify", "Compare every file of a session with its recorded hash");
  auto name = std::make_shared<std::string>("latest");
  auto json = std::make_shared<bool>(false);
  verb->add_option("session", *name, "Session")->capture_default_str();
  verb->add_flag("--json", *json, "As JSON");
  verb->callback([&context, name, json] { verify(context, *name, *json); });
}

void add_rm(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("rm", "Remove sessions");
  auto names = std::make_shared<std::vector<std::string>>();
  verb->add_option("session", *names, "Sessions")->required();
  verb->callback([&context, names] {
    for (const auto& name : *names) {
      const auto removed = workflows::remove(name, context.paths);
      if (!removed) return context.fail(removed.error());
      context.note("removed " + *removed);
    }
  });
}

void add_pack(CLI::App& app, Context& context) {
  CLI::App* pack = app.add_subcommand("pack", "Put a session into one file, to send or keep it");
  auto name = std::make_shared<std::string>("latest");
  auto file = std::make_shared<std::string>();
  pack->add_option("session", *name, "Session")->capture_default_str();
  pack->add_option("-o,--output", *file, "File to write (default: ID.aaco)");
  pack->callback([&context, name, file] {
    const auto written = workflows::pack(*name, *file, context.paths);
    if (!written) return context.fail(written.error());
    context.print(*written + "\n");
  });

  CLI::App* unpack = app.add_subcommand("unpack", "Take a packed session into the lake");
  auto packed = std::make_shared<std::string>();
  unpack->add_option("file", *packed, "Packed session")->required();
  unpack->callback([&context, packed] {
    const auto path = workflows::unpack(*packed, context.paths);
    if (!path) return context.fail(path.error());
    context.print(*path + "\n");
  });
}

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
      return context.fail(
          {core::ErrorCode::invalid_argument, "--older-than wants a time such as 30d, not '" + options.keep_age + "'", {}, {}});
  }
  if (!options.keep_size.empty()) {
    request.keep_bytes = core::parse_bytes(options.keep_size);
    if (!request.keep_bytes || *request.keep_bytes < 0)
      return context.fail(
          {core::ErrorCode::invalid_argument, "--keep-size wants a size such as 10GiB, not '" + options.keep_size + "'", {}, {}});
  }
  if (!request.older_than_ns && !request.keep_bytes)
    return context.fail(
        {core::ErrorCode::invalid_argument, "say what may go: --older-than TIME, --keep-size SIZE, or both", {}, {}});
  const auto outcome = workflows::collect_garbage(request, context.paths);
  if (!outcome) return context.fail(outcome.error());
  for (const auto& id : outcome->removed) context.print(id + "\n");
  for (const auto& problem : outcome->problems) context.note("not removed: " + problem);
  if (!outcome->problems.empty()) context.exit_code = kEnvironment;
  context.note(fmt::format("{} {} sessions, {}", options.dry_run ? "would remove" : "removed", outcome->removed.size(),
                           core::format_bytes(static_cast<double>(outcome->freed_bytes))));
  if (outcome->removed.empty() && request.keep_tagged) context.note("tagged sessions stay; --tagged-too lets them go");
}

void add_gc(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("gc", "Remove old sessions by age or total size");
  auto options = std::make_shared<GcOptions>();
  verb->add_option("--older-than", options->keep_age, "Remove sessions older than this, e.g. 30d")->type_name("TIME");
  verb->add_option("--keep-size", options->keep_size, "Remove the oldest until all fit in this, e.g. 10GiB")->type_name("SIZE");
  verb->add_flag("--tagged-too", options->tagged_too, "Tagged sessions may go as well");
  verb->add_flag("--dry-run", options->dry_run, "Only say what would go");
  verb->callback([&context, options] { collect(context, *options); });
}

}  // namespace

void add_store(CLI::App& app, Context& context) {
  add_verify(app, context);
  add_rm(app, context);
  add_pack(app, context);
  add_gc(app, context);
}

}  // namespace aaco::cli
