#include "importers/pftrace/reader.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/numbers.h"
#include "importers/stream/gpu_names.h"
#include "importers/stream/tokens.h"

namespace aaco::importers::pftrace {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Message;
using formats::protobuf::Wire;

constexpr std::uint64_t kStateCleared = 1;  // bit of sequence_flags

// "4" of "COMPUTE AGENT [4] QUEUE [0] (GPU)": the number in brackets behind a word.
std::optional<std::int64_t> in_brackets(std::string_view text, std::string_view word) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + word.size());
  const auto open = text.find('['), close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  return core::parse_i64(text.substr(open + 1, close - open - 1));
}

// "4" of "Agent 4" and "GPU-4"; negative numbers do not occur.
std::optional<std::int64_t> number_behind(std::string_view text) {
  const auto last = text.find_last_not_of("0123456789");
  return core::parse_i64(last == std::string_view::npos ? text : text.substr(last + 1));
}

// "1" of "GPU 0 (rank 1)", as aaco export names the tracks of several ranks.
std::optional<std::int64_t> rank_in(std::string_view name) {
  constexpr std::string_view kRank = " (rank ";
  const auto at = name.rfind(kRank);
  if (at == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  return core::parse_i64(name.substr(at + kRank.size(), name.size() - at - kRank.size() - 1));
}

std::string_view domain_of(std::string_view category) {
  for (const std::string_view own : {"cpu_op", "python", "cuda_runtime", "cuda_driver"})  // of aaco export
    if (category == own) return own;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kDomains = {
      {{"hip", "hip"}, {"hsa", "hsa"}, {"rccl", "rccl"}, {"marker", "marker"}}};
  for (const auto& [start, domain] : kDomains)
    if (category.starts_with(start)) return domain;
  return "annotation";
}

}  // namespace

trace::NameId Reader::name(std::string_view text) {
  if (const auto known = names_.find(text); known != names_.end()) return known->second;
  return names_.emplace(text, sink_.name(clean_utf8(text))).first->second;
}

// TracePacket: clock_snapshot 6, timestamp 8, trusted_packet_sequence_id 10, track_event 11, interned_data 12, sequence_flags 13,
// incremental_state_cleared 41, timestamp_clock_id 58, trace_packet_defaults 59, track_descriptor 60.
core::Status Reader::packet(std::string_view text) {
  std::optional<std::uint64_t> timestamp, clock;
  std::uint64_t sequence_id = 0;
  bool cleared = false;
  std::string_view snapshot, interned, defaults, descriptor, track_event;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.wire == Wire::varint) {
      if (field.number == 8) timestamp = field.value;
      if (field.number == 10) sequence_id = field.value;
      if (field.number == 13) cleared = cleared || (field.value & kStateCleared) != 0;
      if (field.number == 41) cleared = cleared || field.value != 0;
      if (field.number == 58) clock = field.value;
    } else if (field.wire == Wire::bytes) {
      if (field.number == 6) snapshot = field.bytes;
      if (field.number == 11) track_event = field.bytes;
      if (field.number == 12) interned = field.bytes;
      if (field.number == 59) defaults = field.bytes;
      if (field.number == 60) descriptor = field.bytes;
    }
  }
  if (message.damaged()) {
    account_.drop("malformed event");
    return sink_.status();
  }
  if (!descriptor.empty()) track(descriptor);
  if (sequences_.size() >= kMaxSequences && !sequences_.contains(sequence_id)) {
    if (!track_event.empty()) account_.drop("events of too many writers");
    return sink_.status();
  }
  Sequence& sequence = sequences_[sequence_id];
  if (cleared) sequence.clear();
  if (!defaults.empty()) sequence.add_defaults(defaults);
  if (!snapshot.empty()) sequence.add_clock_snapshot(snapshot);
  if (!interned.empty()) sequence.add_interned(interned, interned_budget_);
  if (!track_event.empty()) event(track_event, sequence.time(timestamp, clock), sequence);
  return sink_.status();
}

// TrackDescriptor: uuid 1, name 2, process 3 (pid 1), thread 4 (pid 1, tid 2, name 5), parent_uuid 5, static_name 10.
void Reader::track(std::string_view text) {
  std::uint64_t uuid = 0;
  Track made;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint) uuid = field.value;
    if ((field.number == 2 || field.number == 10) && field.wire == Wire::bytes) made.name = field.bytes;
    if (field.number == 5 && field.wire == Wire::varint) made.parent = field.value;
    if ((field.number != 3 && field.number != 4) || field.wire != Wire::bytes) continue;
    Message of(field.bytes);
    for (Field member; of.next(member);) {
      if (member.number == 1 && member.wire == Wire::varint) made.process = member.as_i64();
      if (field.number == 4 && member.number == 2 && member.wire == Wire::varint) made.thread = member.as_i64();
      if (field.number == 4 && member.number == 5 && member.wire == Wire::bytes && made.name.empty()) made.name = member.bytes;
    }
  }
  if (tracks_.size() < kMaxTracks || tracks_.contains(uuid)) tracks_.insert_or_assign(uuid, std::move(made));
}

const Reader::Track& Reader::track_of(std::uint64_t uuid) const {
  static const Track kNone;
  const auto found = tracks_.find(uuid);
  return found == tracks_.end() ? kNone : found->second;
}

// Of the track or the nearest one above it. Descriptors may name each other in a circle.
std::optional<std::int64_t> Reader::thread_of(std::uint64_t uuid) const {
  for (int steps = 0; steps < 16; ++steps) {
    const auto found = tracks_.find(uuid);
    if (found == tracks_.end()) return std::nullopt;
    if (found->second.thread) return found->second.thread;
    if (found->second.parent == 0) return std::nullopt;
    uuid = found->second.parent;
  }
  return std::nullopt;
}

// What its name or that of a track above it says; 0 where none does.
std::int32_t Reader::rank_of(std::uint64_t uuid) const {
  constexpr std::int64_t kMaxRank = 1 << 20;
  for (int steps = 0; steps < 16; ++steps) {
    const auto found = tracks_.find(uuid);
    if (found == tracks_.end()) return 0;
    if (const auto rank = rank_in(found->second.name); rank && *rank > 0 && *rank <= kMaxRank)
      return static_cast<std::int32_t>(*rank);
    if (found->second.parent == 0) return 0;
    uuid = found->second.parent;
  }
  return 0;
}

void Reader::event(std::string_view text, std::optional<std::int64_t> time, const Sequence& sequence) {
  ++events_;
  auto slice = read_slice(text, sequence);
  if (!slice) return account_.drop("malformed event");
  if (!time) return account_.drop("no valid timestamp");
  slice->start_ns = *time;
  switch (slice->type) {
    case EventType::begin:
      if (open_count_ >= kMaxOpen) return account_.drop("too many open ranges");
      open_[slice->track].push_back(std::move(*slice));
      ++open_count_;
      return;
    case EventType::end: {
      const auto open = open_.find(slice->track);
      if (open == open_.end() || open->second.empty()) return account_.drop("end event without begin event");
      const Slice begun = std::move(open->second.back());
      open->second.pop_back();
      --open_count_;
      account_.keep();  // the end; the begin is counted with its row
      return close(begun, *time);
    }
    case EventType::counter: {
      const Track& track = track_of(slice->track);
      const std::string_view shown = track.name.empty() ? std::string_view(slice->name) : std::string_view(track.name);
      if (!slice->counter || !std::isfinite(*slice->counter)) return account_.drop("counter without a numeric value");
      if (shown.empty()) return account_.drop("counter without a name");
      account_.keep();
      return sink_.add(trace::SystemEventRow{0, *time, name(shown), {}, *slice->counter});
    }
    default: return account_.drop("instant events");
  }
}

void Reader::close(const Slice& slice, std::int64_t end_ns) {
  std::int64_t start_ns = slice.start_ns;
  if (slice.begin_ns && slice.end_ns && *slice.end_ns >= *slice.begin_ns) {  // a slice may have been cut to fit its track
    start_ns = *slice.begin_ns;
    end_ns = *slice.end_ns;
  }
  if (end_ns < start_ns) return account_.drop("negative duration");
  if (slice.name.empty()) return account_.drop("events without a name");
  const bool on_thread = thread_of(slice.track).has_value();
  if (!on_thread && slice.category == "idle") return account_.drop("idle time, derived from the events");
  if (!on_thread && slice.category == "collective") return account_.drop("collectives, present as kernels");
  account_.keep();
  const Track& track = track_of(slice.track);
  if (slice.category == "kernel_dispatch" || slice.kernel_id || track.name.starts_with("COMPUTE ") ||
      (slice.category == "kernel" && slice.device))
    kernel(slice, track, start_ns, end_ns);
  else if (slice.category == "memory_copy" || track.name.starts_with("COPY ") || (slice.category == "copy" && slice.device))
    copy(slice, track, start_ns, end_ns);
  else
    call(slice, track, start_ns, end_ns);
}

void Reader::kernel(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns) {
  trace::KernelRow row;
  row.rank = rank_of(slice.track);
  row.device = slice.device.value_or(number_behind(slice.agent).value_or(in_brackets(track.name, "COMPUTE").value_or(0)));
  row.queue = slice.queue.value_or(in_brackets(track.name, "QUEUE").value_or(-1));
  row.stream = slice.stream.value_or(in_brackets(track.name, "STREAM").value_or(std::max<std::int64_t>(0, row.queue)));
  row.grid_x = slice.grid[0], row.grid_y = slice.grid[1], row.grid_z = slice.grid[2];
  row.block_x = slice.block[0], row.block_y = slice.block[1], row.block_z = slice.block[2];
  row.name = name(slice.name);
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  row.correlation_id = slice.correlation_id.value_or(0);
  row.lds_bytes = slice.lds_bytes;
  row.scratch_bytes = slice.scratch_bytes;
  sink_.add(row);
  if (is_collective_kernel(slice.name)) sink_.add(collective_of(row, name(collective_operation_of(slice.name))));
}

void Reader::copy(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns) {
  trace::CopyRow row;
  row.rank = rank_of(slice.track);
  row.device = slice.device.value_or(number_behind(slice.target_agent).value_or(in_brackets(track.name, "COPY").value_or(0)));
  row.stream = slice.stream.value_or(in_brackets(track.name, "STREAM").value_or(in_brackets(track.name, "THREAD").value_or(0)));
  row.kind = name(slice.device ? std::string_view(slice.name) : copy_direction_of(slice.name));
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  row.bytes = slice.copy_bytes;
  row.source_device = number_behind(slice.source_agent);
  row.target_device = number_behind(slice.target_agent);
  row.correlation_id = slice.correlation_id.value_or(0);
  sink_.add(row);
}

void Reader::call(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns) {
  trace::ApiCallRow row;
  row.rank = rank_of(slice.track);
  row.domain = name(domain_of(slice.category));
  row.name = name(slice.name);
  row.process_id = track.process.value_or(0);
  row.thread_id = slice.thread.value_or(thread_of(slice.track).value_or(0));
  row.start_ns = start_ns;
  row.end_ns = end_ns;
  row.correlation_id = slice.correlation_id.value_or(0);
  sink_.add(row);
}

void Reader::finish() {
  if (open_count_ > 0) account_.drop("unterminated begin event", static_cast<std::int64_t>(open_count_));
}

}  // namespace aaco::importers::pftrace
