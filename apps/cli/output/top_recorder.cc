#include "cli/output/top_recorder.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <csignal>

#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/json.h"
#include "core/strings.h"

namespace aaco::cli {
namespace {

constexpr std::int64_t kMaxRecordLog = 1 << 20;

core::FileDescriptor open_log(const std::string& path, int flags) {
  return core::FileDescriptor(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

// The line of the command's message without its prefix.
std::string message_of(const std::string& log) {
  std::string message;
  for (const std::string_view line : core::split_lines(log))
    if (line.starts_with("aaco: ")) message = line.substr(6);
  return message;
}

}  // namespace

void TopRecorder::toggle(std::int64_t process_id, bool profile) {
  if (child_) {
    stopping_ = true;
    return child_->signal(SIGINT);
  }
  auto folder = core::TemporaryDirectory::make("/tmp", "aaco-top");
  if (!folder) {
    note_ = folder.error().message;
    return;
  }
  folder_ = std::move(*folder);
  const std::string log = core::join_path(folder_->path(), "log");
  const auto output = open_log(log, O_WRONLY | O_CREAT | O_TRUNC);
  const auto null = open_log("/dev/null", O_RDONLY);
  core::Command command;
  command.arguments = {program_,
                       "--sessions",
                       sessions_,
                       "record",
                       "--no-report",
                       "--pid",
                       std::to_string(process_id),
                       "--json",
                       "--report-to",
                       core::join_path(folder_->path(), "result")};
  if (profile) command.arguments.emplace_back("--ebpf");
  command.output = core::Command::Output::inherit;
  command.input_fd = null.get();
  command.output_fd = output.get();
  command.error_fd = output.get();
  auto child = core::Child::start(command);
  if (!child) {
    note_ = child.error().message;
    return;
  }
  child_ = std::move(*child);
  what_ = fmt::format("{} process {}", profile ? "profiling" : "recording", process_id);
  started_ns_ = core::monotonic_ns();
  stopping_ = false;
}

void TopRecorder::take_result(int exit_code) {
  const auto text = core::read_file(core::join_path(folder_->path(), "result"), kMaxRecordLog);
  const auto document = text ? core::Json::parse(*text) : tl::unexpected<core::Error>(text.error());
  const std::string session = document ? std::string((*document)["session"]["id"].text()) : "";
  if (!session.empty()) {
    note_ = "stored session " + session;
  } else {
    const std::string why = message_of(core::read_file(core::join_path(folder_->path(), "log"), kMaxRecordLog).value_or(""));
    note_ = why.empty() ? fmt::format("the recording failed with exit code {}", exit_code) : why;
  }
  child_.reset();
  folder_.reset();
}

std::string TopRecorder::state() {
  if (child_)
    if (const auto code = child_->poll()) take_result(*code);
  if (!child_) return note_;
  const std::int64_t seconds = (core::monotonic_ns() - started_ns_) / 1'000'000'000;
  return fmt::format("{}, {}:{:02}; {}", what_, seconds / 60, seconds % 60, stopping_ ? "storing the session" : "r stops it");
}

void TopRecorder::finish() {
  if (!child_) return;
  child_->signal(SIGINT);
  take_result(child_->wait());
}

}  // namespace aaco::cli
