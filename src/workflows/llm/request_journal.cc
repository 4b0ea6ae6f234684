#include "workflows/llm/request_journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/files.h"
#include "core/json.h"
#include "core/strings.h"
#include "serving/client.h"
#include "serving/rows.h"
#include "trace/sink.h"
#include "trace/tables.h"
#include "workflows/session/llm_journal.h"

namespace aaco::workflows {
namespace {

using core::ErrorCode;
using core::Json;
using Row = trace::LlmRequestRow;

constexpr std::chrono::milliseconds kWritePeriod{20};  // short: a burst of writing would hold up an event loop on the same CPU
constexpr int kNice = 10;

std::string journal_path(const std::string& session_path) { return core::join_path(session_path, kLlmJournal); }

template <class F>
void for_each_column(F&& f) {
  std::apply([&](const auto&... column) { (f(column), ...); }, trace::TableOf<Row>::columns());
}

Json row_to_json(const Row& row, const trace::NameTable& names) {
  Json out = Json::object();
  for_each_column([&](const auto& column) {
    const auto& value = row.*column.member;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, trace::NameId>) {
      if (value != trace::NameId{}) out.set(column.name, names.text(value));
    } else {
      out.set_if(column.name, Json(value));
    }
  });
  return out;
}

void take_cell(const Json& cell, std::int32_t& value) { value = static_cast<std::int32_t>(cell.as_i64().value_or(0)); }
void take_cell(const Json& cell, std::int64_t& value) { value = cell.as_i64().value_or(0); }
void take_cell(const Json& cell, std::optional<std::int64_t>& value) { value = cell.as_i64(); }

std::optional<Row> row_from_json(const Json& json, trace::NameTable& names) {
  Row row;
  for_each_column([&](const auto& column) {
    auto& value = row.*column.member;
    if constexpr (std::is_same_v<std::decay_t<decltype(value)>, trace::NameId>)
      value = names.intern(json[column.name].text());
    else
      take_cell(json[column.name], value);
  });
  const bool told = json["scheduled_ns"].as_i64() && json["end_ns"].as_i64() && !json["outcome"].text().empty();
  return told ? std::optional(row) : std::nullopt;
}

}  // namespace

core::Result<std::unique_ptr<RequestJournal>> RequestJournal::open(const std::string& session_path) {
  const std::string path = journal_path(session_path);
  core::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!file.valid()) return core::fail_errno(errno, path);
  return std::unique_ptr<RequestJournal>(new RequestJournal(std::move(file), path));
}

RequestJournal::RequestJournal(core::FileDescriptor file, std::string path) : path_(std::move(path)), file_(std::move(file)) {
  thread_ = std::thread([this] {
    // The event loop may have to share one CPU with this thread: it goes first. Refused, it does not.
    (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
    std::unique_lock lock(mutex_);
    while (!end_) {
      wake_.wait_for(lock, kWritePeriod, [this] { return end_; });
      lock.unlock();
      write_all();
      lock.lock();
    }
  });
}

RequestJournal::~RequestJournal() {
  {
    const std::lock_guard lock(mutex_);
    hand_over();
    end_ = true;
  }
  wake_.notify_all();
  thread_.join();
  write_all();
}

void RequestJournal::begin_level(std::string phase, std::string load, std::int64_t first_request) {
  const std::lock_guard lock(mutex_);
  hand_over();
  waiting_.push_back({{std::move(phase), std::move(load), first_request}, {}});
}

void RequestJournal::add(const serving::RequestRecord& record) {
  held_.push_back(record);
  if (const std::unique_lock lock(mutex_, std::try_to_lock); lock) hand_over();
}

void RequestJournal::hand_over() {
  if (!waiting_.empty())
    for (serving::RequestRecord& record : held_) waiting_.back().records.push_back(std::move(record));
  held_.clear();
}

void RequestJournal::discard() { (void)::unlink(path_.c_str()); }

void RequestJournal::write_all() {
  std::vector<Batch> batches;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return;
    batches.swap(waiting_);
    waiting_.push_back({batches.back().level, {}});
  }
  std::string lines;
  for (Batch& batch : batches) {
    if (batch.records.empty()) continue;
    serving::StageOutcome stage;
    stage.requests = std::move(batch.records);
    trace::MemorySink rows;
    serving::write_rows(stage, batch.level.phase, batch.level.load, batch.level.first_request, rows);
    for (const Row& row : rows.rows<Row>()) lines += row_to_json(row, rows.names()).dump(-1) + "\n";
  }
  // A full disk fails the session when its tables are written; the journal alone is no reason to end the load.
  if (!lines.empty()) (void)core::write_all(file_.get(), lines, path_);
}

core::Result<std::vector<Row>> read_request_journal(const std::string& session_path, trace::NameTable& names) {
  const std::string path = journal_path(session_path);
  if (!core::exists(path))
    return core::fail(ErrorCode::not_found, session_path + " has no journal of requests",
                      "only loads on a server ('aaco llm --url') that were killed have one");
  AACO_ASSIGN(const std::string text, core::read_file(path));
  std::vector<Row> rows;
  const auto lines = core::split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto json = Json::parse(lines[i]);
    if (!json && i + 1 == lines.size()) break;  // torn
    const auto row = json ? row_from_json(*json, names) : std::nullopt;
    if (!row) return core::fail(ErrorCode::invalid_input, fmt::format("{}: line {} is not a request", path, i + 1));
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace aaco::workflows
