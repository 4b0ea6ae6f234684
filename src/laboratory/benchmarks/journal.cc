#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "core/clock.h"
#include "core/files.h"
#include "core/handles.h"
#include "core/strings.h"
#include "laboratory/benchmarks.h"

namespace aaco::laboratory {
namespace {

using core::Json;

constexpr std::int64_t kSchema = 1;
constexpr std::string_view kPrefix = "run-", kSuffix = ".jsonl";

Json to_json(const BenchmarkVisit& visit) {
  Json out = Json::object({{"case", to_json(visit.one)}, {"round", visit.round}});
  if (!visit.error.empty()) return out.set("error", visit.error);
  out.set("calls", visit.calls).set("median_ns", visit.median_ns).set("lowest_ns", visit.lowest_ns).set("p90_ns", visit.p90_ns);
  return out.set_if("interval_ratio", visit.interval_ratio)
      .set_if("operator_ratio", visit.operator_ratio)
      .set_if("resident_before_bytes", visit.resident_before_bytes)
      .set_if("resident_loaded_bytes", visit.resident_loaded_bytes)
      .set_if("resident_peak_bytes", visit.resident_peak_bytes)
      .set_if("flops", visit.flops)
      .set_if("bytes", visit.bytes)
      .set_if("power_watts", visit.power_watts)
      .set_if("clock_hz", visit.clock_hz)
      .set_if("memory_clock_hz", visit.memory_clock_hz);
}

std::optional<BenchmarkVisit> visit_of(const Json& line) {
  BenchmarkVisit visit;
  auto one = case_from_json(line["case"]);
  const auto round = line["round"].as_i64();
  if (!one || !round) return std::nullopt;
  visit.one = std::move(*one);
  visit.round = *round;
  visit.error = line["error"].text();
  if (!visit.error.empty()) return visit;
  const auto calls = line["calls"].as_i64();
  const auto median = line["median_ns"].as_f64(), lowest = line["lowest_ns"].as_f64(), p90 = line["p90_ns"].as_f64();
  if (!calls || !median || !lowest || !p90 || !(*median > 0)) return std::nullopt;
  visit.calls = *calls;
  visit.median_ns = *median;
  visit.lowest_ns = *lowest;
  visit.p90_ns = *p90;
  visit.interval_ratio = line["interval_ratio"].as_f64();
  visit.operator_ratio = line["operator_ratio"].as_f64();
  visit.resident_before_bytes = line["resident_before_bytes"].as_i64();
  visit.resident_loaded_bytes = line["resident_loaded_bytes"].as_i64();
  visit.resident_peak_bytes = line["resident_peak_bytes"].as_i64();
  visit.flops = line["flops"].as_f64();
  visit.bytes = line["bytes"].as_f64();
  visit.power_watts = line["power_watts"].as_f64();
  visit.clock_hz = line["clock_hz"].as_f64();
  visit.memory_clock_hz = line["memory_clock_hz"].as_f64();
  return visit;
}

std::string new_name() {
  std::string stamp = core::iso8601_utc(core::SystemClock().now_ns(core::ClockId::realtime));
  std::erase_if(stamp, [](char letter) { return letter == '-' || letter == ':'; });
  return std::string(kPrefix) + stamp;
}

}  // namespace

core::Result<core::FileDescriptor> hold_benchmarks(const std::string& folder) {
  AACO_TRY(core::make_writable_folder(folder, "AACO_REGISTRY"));
  core::FileDescriptor held(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!held.valid()) return core::fail_errno(errno, folder);
  if (::flock(held.get(), LOCK_EX | LOCK_NB) == 0) return held;
  if (errno != EWOULDBLOCK) return core::fail_errno(errno, "locking " + folder);
  return core::fail(
      core::ErrorCode::conflict,
      "another 'aaco benchmark' is already measuring into " + folder + "; concurrent benchmarks would disturb each other",
      "wait for it to finish, or stop it (Ctrl-C): running the same command again resumes it");
}

std::string BenchmarkJournal::run_id() const {
  std::string name = core::base_name(path_);
  if (name.ends_with(kSuffix)) name.resize(name.size() - kSuffix.size());
  return name;
}

bool BenchmarkJournal::has(const std::string& case_id, std::int64_t round) const { return done_.contains({case_id, round}); }

void BenchmarkJournal::remember(BenchmarkVisit visit) {
  done_.emplace(visit.one.id, visit.round);
  visits_.push_back(std::move(visit));
}

core::Result<BenchmarkJournal> BenchmarkJournal::read(const std::string& path) {
  AACO_ASSIGN(const std::string text, core::read_file(path));
  BenchmarkJournal journal;
  journal.path_ = path;
  const auto lines = core::split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto wrong = [&](std::string_view what) {
      return core::fail(core::ErrorCode::invalid_input, path + ":" + std::to_string(i + 1) + ": " + std::string(what),
                        "the journal was not written by aaco benchmark or is damaged: move it elsewhere");
    };
    const auto line = Json::parse(lines[i]);
    const bool cut = i + 1 == lines.size() && !text.ends_with('\n');
    if (!line && cut) break;
    if (!line) return wrong("invalid JSON");
    if (i == 0) {
      if ((*line)["schema_version"].as_i64() != kSchema || !(*line)["provenance"].is_object())
        return wrong("not a benchmark journal header");
      journal.provenance_ = (*line)["provenance"];
      journal.key_ = (*line)["key"].text();
      continue;
    }
    if ((*line)["finished"].as_bool().value_or(false)) {
      journal.finished_ = true;
      continue;
    }
    auto visit = visit_of(*line);
    if (!visit) return wrong("not a benchmark entry");
    journal.remember(std::move(*visit));
  }
  if (journal.provenance_.is_null())
    return core::fail(core::ErrorCode::not_found, path + ":1: the journal is empty", "remove it");
  return journal;
}

core::Result<BenchmarkJournal> BenchmarkJournal::open(const std::string& folder, const Json& provenance, const std::string& key,
                                                      bool fresh) {
  AACO_TRY(core::make_directories(folder));
  AACO_ASSIGN(std::vector<std::string> names, core::list_directory(folder));
  std::reverse(names.begin(), names.end());  // the newest first
  for (const std::string& name : names) {
    if (fresh || !name.starts_with(kPrefix) || !name.ends_with(kSuffix)) continue;
    auto journal = read(core::join_path(folder, name));
    if (!journal || journal->finished_ || journal->key_ != key) continue;
    journal->resumed_ = true;
    // A line that a crash cut off would spoil the next one.
    std::string whole =
        Json::object({{"schema_version", kSchema}, {"key", key}, {"provenance", journal->provenance_}}).dump(-1) + "\n";
    for (const BenchmarkVisit& visit : journal->visits_) whole += to_json(visit).dump(-1) + "\n";
    AACO_TRY(core::write_file_atomic(journal->path_, whole));
    return std::move(*journal);
  }
  BenchmarkJournal journal;
  const std::string name = new_name();
  journal.path_ = core::join_path(folder, name + std::string(kSuffix));
  for (int again = 2; core::exists(journal.path_); ++again)
    journal.path_ = core::join_path(folder, name + "-" + std::to_string(again) + std::string(kSuffix));
  journal.key_ = key;
  journal.provenance_ = provenance;
  AACO_TRY(journal.append(Json::object({{"schema_version", kSchema}, {"key", key}, {"provenance", provenance}})));
  return journal;
}

core::Status BenchmarkJournal::append(const Json& line) const {
  const core::FileDescriptor file(::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!file.valid()) return core::fail_errno(errno, path_);
  const std::string text = line.dump(-1) + "\n";
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(file.get(), text.data() + done, text.size() - done);
    if (count < 0) return core::fail_errno(errno, path_);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

core::Status BenchmarkJournal::add(const BenchmarkVisit& visit) {
  AACO_TRY(append(to_json(visit)));
  remember(visit);
  return {};
}

core::Status BenchmarkJournal::finish() {
  AACO_TRY(append(Json::object({{"finished", true}})));
  finished_ = true;
  return {};
}

}  // namespace aaco::laboratory
