#include <unistd.h>

#include <array>
#include <optional>

#include "core/files.h"
#include "core/strings.h"
#include "core/subprocess.h"
#include "workflows/session_report.h"

namespace aaco::workflows {
namespace {

constexpr std::int64_t kTimeLimitNs = 60'000'000'000;
constexpr std::array<const char*, 4> kPrograms = {"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"};

core::Result<std::string> find_chromium(const core::Environment& environment) {
  const std::string hint =
      "install chromium, name one with AACO_CHROMIUM, or write the page with --html and print it in a browser";
  if (const auto named = environment.get("AACO_CHROMIUM"); named && !named->empty()) {
    if (core::exists(*named)) return *named;
    return core::fail(core::ErrorCode::not_found, "AACO_CHROMIUM names a missing program: " + *named, hint);
  }
  for (const char* name : kPrograms)
    if (auto found = core::find_program(name, environment.get("PATH").value_or(""))) return *found;
  return core::fail(core::ErrorCode::not_found, "PDF output requires Chromium, and none was found", hint);
}

// Its last line that says anything; Chromium's logs end with what stopped it.
std::string last_line(const std::string& text) {
  const std::string_view trimmed = core::trim(text);
  return std::string(trimmed.substr(trimmed.rfind('\n') + 1));  // npos + 1 is 0
}

}  // namespace

core::Result<std::string> print_page(const report::ReportModel& model, const Services& services) {
  AACO_ASSIGN(const std::string program, find_chromium(services.environment));
  AACO_ASSIGN(const std::string page, render_page(model, services.paths));
  AACO_ASSIGN(const auto folder, core::TemporaryDirectory::make(services.environment.get("TMPDIR").value_or("/tmp")));
  const std::string html = core::join_path(folder.path(), "report.html"), pdf = core::join_path(folder.path(), "report.pdf");
  AACO_TRY(core::write_file_atomic(html, page));
  core::Command command;
  command.arguments = {program,
                       "--headless",
                       "--disable-gpu",
                       "--no-first-run",
                       "--disable-background-networking",
                       "--disable-component-update",
                       "--disable-sync",
                       "--no-pdf-header-footer",
                       "--user-data-dir=" + core::join_path(folder.path(), "profile"),
                       "--print-to-pdf=" + pdf};
  if (geteuid() == 0) command.arguments.emplace_back("--no-sandbox");  // Chromium refuses root with it; the page is our own
  command.arguments.push_back("file://" + core::absolute_path(html));
  command.timeout_ns = kTimeLimitNs;
  AACO_ASSIGN(const auto result, core::run_command(command));
  if (result.timed_out)
    return core::fail(core::ErrorCode::timed_out, program + " did not print the page within 60 s", "try again");
  auto bytes = core::read_file(pdf);
  if (!bytes || !bytes->starts_with("%PDF-"))
    return core::fail(
        core::ErrorCode::io,
        program + " wrote no PDF (exit code " + std::to_string(result.exit_code) + "): " + last_line(result.error_output),
        "write the page with --html and print it in a browser");
  return bytes;
}

}  // namespace aaco::workflows
