#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <set>

#include "core/files.h"
#include "core/handles.h"
#include "core/json.h"
#include "workflows/live.h"
#include "workflows/live_record.h"
#include "workflows/process_identity.h"

namespace aaco::workflows {
namespace {

using core::Json;

constexpr std::size_t kMaxLine = 64 * 1024;
constexpr std::size_t kMaxRead = std::size_t{4} << 20;  // of a file at once

void read_fact(const Json& fact, report::LiveSession& session) {
  if (fact.contains("session")) {
    session.id = fact["session"].text();
    session.kind = fact["kind"].text();
    session.what = fact["what"].text();
    session.tag = fact["tag"].text();
    session.started = fact["started"].text();
    session.process_id = fact["process_id"].as_i64().value_or(0);
    session.started_ns = fact["time_ns"].as_i64().value_or(0);
    return;
  }
  if (fact.contains("phase")) {
    session.phase = fact["phase"].text();
    return;
  }
  const auto low = fact["min_ns"].as_f64(), middle = fact["p50_ns"].as_f64(), high = fact["max_ns"].as_f64();
  if (!low || !middle || !high) return;
  report::LiveBucket bucket;
  bucket.number = session.buckets.empty() ? 0 : session.buckets.back().number + 1;
  bucket.time_ns = fact["time_ns"].as_i64().value_or(0);
  bucket.count = fact["count"].as_i64().value_or(0);
  bucket.min_ns = *low;
  bucket.p50_ns = *middle;
  bucket.max_ns = *high;
  bucket.p90_ns = fact["p90_ns"].as_f64();
  bucket.p99_ns = fact["p99_ns"].as_f64();
  session.buckets.push_back(bucket);
  if (session.buckets.size() > LiveSessions::kMaxBuckets) session.buckets.erase(session.buckets.begin());
  session.iterations = fact["iterations"].as_i64().value_or(0);
  session.median_ns = fact["median_ns"].as_f64();
  session.median_low_ns = fact["median_low_ns"].as_f64();
  session.median_high_ns = fact["median_high_ns"].as_f64();
  session.done_ratio = fact["done_ratio"].as_f64();
  session.left_s = fact["left_s"].as_f64();
}

// Bytes from `offset` on, as many as there are.
std::string read_from(const std::string& path, std::int64_t offset) {
  const core::FileDescriptor file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  std::string text;
  std::array<char, 65536> buffer;
  while (file.valid() && text.size() < kMaxRead) {
    const ssize_t count = ::pread(file.get(), buffer.data(), buffer.size(), offset + static_cast<std::int64_t>(text.size()));
    if (count <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

}  // namespace

std::vector<report::LiveSession> LiveSessions::read() {
  const std::string folder = live_folder(root_);
  std::set<std::string> there;
  for (const std::string& name : core::list_directory(folder).value_or(std::vector<std::string>())) {
    if (!name.ends_with(".jsonl")) continue;
    there.insert(name);
    Reading& reading = readings_[name];
    const std::string path = core::join_path(folder, name);
    const std::string added = read_from(path, reading.offset);
    reading.offset += static_cast<std::int64_t>(added.size());
    reading.rest += added;
    std::size_t begin = 0;
    for (std::size_t end = reading.rest.find('\n'); end != std::string::npos; end = reading.rest.find('\n', begin)) {
      if (const auto fact = Json::parse(std::string_view(reading.rest).substr(begin, end - begin))) {
        if (fact->contains("process_started")) reading.process_started = (*fact)["process_started"].as_i64().value_or(0);
        read_fact(*fact, reading.session);
      }
      begin = end + 1;
    }
    reading.rest.erase(0, begin);
    if (reading.rest.size() > kMaxLine) reading.rest.clear();
  }
  std::erase_if(readings_, [&](const auto& one) { return !there.contains(one.first); });
  std::vector<report::LiveSession> sessions;
  for (auto& [name, reading] : readings_) {
    const report::LiveSession& session = reading.session;
    if (session.id.empty()) continue;
    if (process_start_ticks(session.process_id) == reading.process_started)
      sessions.push_back(session);
    else
      (void)core::remove_tree(core::join_path(folder, name));  // its maker was killed
  }
  return sessions;
}

}  // namespace aaco::workflows
