#include "workflows/run/marked_ranges.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "core/clock.h"
#include "core/numbers.h"

namespace aaco::workflows {
namespace {

std::optional<std::int64_t> take_number(std::string_view& line) {
  const auto end = line.find(' ');
  if (end == std::string_view::npos) return std::nullopt;
  const auto number = core::parse_i64(line.substr(0, end));
  line.remove_prefix(end + 1);
  return number && *number >= 0 ? number : std::nullopt;
}

std::optional<MarkedRange> parse_range(std::string_view line) {
  MarkedRange range;
  for (std::int64_t* field : {&range.process_id, &range.thread_id, &range.start_ns, &range.end_ns}) {
    const auto number = take_number(line);
    if (!number) return std::nullopt;
    *field = *number;
  }
  if (line.empty() || range.end_ns < range.start_ns) return std::nullopt;
  range.name = line.substr(0, MarkedRanges::kMaxName);
  return range;
}

}  // namespace

void add_marker(const MarkedRange& range, trace::Sink& sink) {
  trace::ApiCallRow row;
  row.domain = sink.name("marker");
  row.name = sink.name(range.name);
  row.process_id = range.process_id;
  row.thread_id = range.thread_id;
  row.start_ns = range.start_ns;
  row.end_ns = range.end_ns;
  sink.add(row);
}

MarkedRanges::MarkedRanges() : file_(::memfd_create("aaco_ranges", MFD_CLOEXEC)) { account_.source = "ranges"; }

std::pair<std::string, std::string> MarkedRanges::variable() const {
  return {"AACO_RANGES", file_.valid() ? "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file_.get()) : ""};
}

void MarkedRanges::take(std::string_view line, trace::Sink& sink) {
  const auto range = parse_range(line);
  if (!range)
    account_.drop("not a range");
  else if (range->end_ns > core::monotonic_ns())
    account_.drop("ends in the future");
  else if (account_.kept >= kMaxRanges)
    account_.drop("more than " + std::to_string(kMaxRanges) + " ranges");
  else {
    add_marker(*range, sink);
    account_.keep();
  }
}

void MarkedRanges::drain(trace::Sink& sink) {
  if (!file_.valid()) return;
  std::array<char, 1 << 16> bytes{};
  for (;;) {
    const auto got = ::pread(file_.get(), bytes.data(), bytes.size(), read_bytes_);
    if (got <= 0) return;
    (void)::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, read_bytes_, got);
    read_bytes_ += got;
    rest_.append(bytes.data(), static_cast<std::size_t>(got));
    std::string_view unread = rest_;
    for (auto end = unread.find('\n'); end != std::string_view::npos; end = unread.find('\n')) {
      take(unread.substr(0, end), sink);
      unread.remove_prefix(end + 1);
    }
    rest_.erase(0, rest_.size() - unread.size());
    if (rest_.size() > kMaxLine) {  // its end, once it comes, is not a range either
      rest_.clear();
      account_.drop("not a range");
    }
  }
}

trace::Account MarkedRanges::finish(trace::Sink& sink) {
  drain(sink);
  if (!rest_.empty()) account_.drop("cut off");
  if (account_.read == 0) return {};
  if (account_.kept < account_.read) account_.state = trace::Account::State::partial;
  return account_;
}

}  // namespace aaco::workflows
