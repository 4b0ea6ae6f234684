#include "tracelake/perfetto/perfetto_writer.h"

#include <optional>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <unordered_map>

#include "tracelake/perfetto/output_file.h"
#include "tracelake/perfetto/perfetto_fields.h"

namespace aaco::tracelake::perfetto {
namespace {

constexpr std::uint32_t kSequence = 1;
constexpr std::size_t kMaxInterned = std::size_t{1} << 18;  // further names are written out each time

std::optional<std::uint32_t> builtin_clock(core::ClockId id) {
  switch (id) {
    case core::ClockId::realtime: return field::kClockRealtime;
    case core::ClockId::monotonic: return field::kClockMonotonic;
    case core::ClockId::monotonic_raw: return field::kClockMonotonicRaw;
    case core::ClockId::boottime: return field::kClockBoottime;
    default: return std::nullopt;
  }
}

// Texts that were written once and are referred to by number from then on.
class Interner {
 public:
  explicit Interner(std::uint32_t field) : field_(field) {}
  // The number, 0 where the table is full. What is new goes into `pending`, an InternedData message for the present packet.
  std::uint64_t number(std::string_view text, std::string& pending) {
    const auto known = numbers_.find(std::string(text));
    if (known != numbers_.end()) return known->second;
    if (numbers_.size() == kMaxInterned) return 0;
    const std::uint64_t number = numbers_.size() + 1;
    numbers_.emplace(text, number);
    protozero::pbf_writer data(pending);
    protozero::pbf_writer entry(data, field_);
    entry.add_uint64(field::interned::kIid, number);
    entry.add_string(field::interned::kText, text.data(), text.size());
    return number;
  }

 private:
  std::uint32_t field_;
  std::unordered_map<std::string, std::uint64_t> numbers_;
};

class PerfettoWriter final : public TimelineWriter {
 public:
  PerfettoWriter(OutputFile file, core::ClockId home_clock, const std::vector<ClockReading>& clocks) : file_(std::move(file)) {
    start_sequence(clocks.empty() ? std::nullopt : builtin_clock(home_clock));
    for (const ClockReading& reading : clocks) add_clocks(reading, home_clock);
  }

  TrackId add_track(const TrackInfo& info) override;
  void begin(TrackId track, const Slice& slice) override;
  void end(TrackId track, std::int64_t time_ns) override {
    (void)start_event(track, field::event::kTypeEnd);
    write_event(time_ns);
  }
  void counter(TrackId track, std::int64_t time_ns, double value) override {
    start_event(track, field::event::kTypeCounter).add_double(field::event::kDoubleCounter, value);
    write_event(time_ns);
  }
  core::Status finish() override { return file_.finish(); }

 private:
  void start_sequence(std::optional<std::uint32_t> clock);
  void add_clocks(const ClockReading& reading, core::ClockId home_clock);
  void add_annotations(protozero::pbf_writer& event, const Slice& slice);
  protozero::pbf_writer start_event(TrackId track, std::int32_t type);
  // The packet of event_, with interned_: what the event refers to for the first time.
  void write_event(std::int64_t time_ns);
  void write_packet();

  OutputFile file_;
  TrackId tracks_ = 0;
  Interner categories_{field::interned::kCategories};
  Interner names_{field::interned::kNames};
  Interner annotations_{field::interned::kAnnotationNames};
  std::string interned_, event_, packet_, head_;  // kept for their memory
};

void PerfettoWriter::write_packet() {
  head_.clear();
  protozero::pbf_writer(head_).add_message(field::trace::kPacket, packet_);
  file_.write(head_);
}

void PerfettoWriter::start_sequence(std::optional<std::uint32_t> clock) {
  packet_.clear();
  protozero::pbf_writer packet(packet_);
  packet.add_uint32(field::packet::kSequenceId, kSequence);
  packet.add_uint32(field::packet::kSequenceFlags, field::kStateCleared);
  if (clock) {
    protozero::pbf_writer defaults(packet, field::packet::kDefaults);
    defaults.add_uint32(field::defaults::kTimestampClock, *clock);
  }
  write_packet();
}

void PerfettoWriter::add_clocks(const ClockReading& reading, core::ClockId home_clock) {
  packet_.clear();
  {
    protozero::pbf_writer packet(packet_);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    protozero::pbf_writer snapshot(packet, field::packet::kClockSnapshot);
    for (const core::TimePoint& point : reading) {
      const auto id = builtin_clock(point.clock);
      if (!id || point.ns < 0) continue;
      protozero::pbf_writer clock(snapshot, field::clock_snapshot::kClocks);
      clock.add_uint32(field::clock_snapshot::kClockId, *id);
      clock.add_uint64(field::clock_snapshot::kClockTimestamp, static_cast<std::uint64_t>(point.ns));
    }
    if (const auto home = builtin_clock(home_clock)) snapshot.add_uint32(field::clock_snapshot::kPrimaryClock, *home);
  }
  write_packet();
}

void describe_counter(protozero::pbf_writer& descriptor, const std::string& unit) {
  protozero::pbf_writer counter(descriptor, field::track::kCounter);
  if (unit == "ns")
    counter.add_enum(field::track::kCounterUnit, field::kUnitTimeNs);
  else if (unit == "bytes")
    counter.add_enum(field::track::kCounterUnit, field::kUnitBytes);
  else if (unit == "count")
    counter.add_enum(field::track::kCounterUnit, field::kUnitCount);
  else if (!unit.empty())
    counter.add_string(field::track::kCounterUnitName, unit);
}

TrackId PerfettoWriter::add_track(const TrackInfo& info) {
  const TrackId id = ++tracks_;
  packet_.clear();
  {
    protozero::pbf_writer packet(packet_);
    packet.add_uint32(field::packet::kSequenceId, kSequence);
    protozero::pbf_writer descriptor(packet, field::packet::kTrackDescriptor);
    descriptor.add_uint64(field::track::kUuid, id);
    if (info.parent != 0) descriptor.add_uint64(field::track::kParent, info.parent);
    descriptor.add_string(field::track::kName, info.name);
    if (info.kind == TrackInfo::Kind::process) {
      protozero::pbf_writer process(descriptor, field::track::kProcess);
      process.add_int32(field::track::kProcessPid, static_cast<std::int32_t>(info.process_id));
      process.add_string(field::track::kProcessName, info.name);
    } else if (info.kind == TrackInfo::Kind::thread) {
      protozero::pbf_writer thread(descriptor, field::track::kThread);
      thread.add_int32(field::track::kThreadPid, static_cast<std::int32_t>(info.process_id));
      thread.add_int32(field::track::kThreadTid, static_cast<std::int32_t>(info.thread_id));
      thread.add_string(field::track::kThreadName, info.name);
    } else if (info.kind == TrackInfo::Kind::counter) {
      describe_counter(descriptor, info.unit);
    }
  }
  write_packet();
  return id;
}

void PerfettoWriter::add_annotations(protozero::pbf_writer& event, const Slice& slice) {
  for (const Argument& argument : slice.arguments) {
    const std::uint64_t name = annotations_.number(argument.name, interned_);
    protozero::pbf_writer annotation(event, field::event::kAnnotations);
    annotation.add_uint64(field::annotation::kNameIid, name);
    if (const auto* integer = std::get_if<std::int64_t>(&argument.value))
      annotation.add_int64(field::annotation::kInt, *integer);
    else if (const auto* real = std::get_if<double>(&argument.value))
      annotation.add_double(field::annotation::kDouble, *real);
    else if (const auto* text = std::get_if<std::string_view>(&argument.value))
      annotation.add_string(field::annotation::kString, text->data(), text->size());
  }
}

protozero::pbf_writer PerfettoWriter::start_event(TrackId track, std::int32_t type) {
  event_.clear();
  protozero::pbf_writer event(event_);
  event.add_enum(field::event::kType, type);
  event.add_uint64(field::event::kTrack, track);
  return event;
}

void PerfettoWriter::write_event(std::int64_t time_ns) {
  packet_.clear();
  protozero::pbf_writer packet(packet_);
  packet.add_uint64(field::packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
  packet.add_uint32(field::packet::kSequenceId, kSequence);
  packet.add_uint32(field::packet::kSequenceFlags, field::kNeedsState);
  if (!interned_.empty()) packet.add_message(field::packet::kInternedData, interned_);
  packet.add_message(field::packet::kTrackEvent, event_);
  interned_.clear();
  write_packet();
}

void PerfettoWriter::begin(TrackId track, const Slice& slice) {
  protozero::pbf_writer event = start_event(track, field::event::kTypeBegin);
  if (!slice.category.empty()) event.add_uint64(field::event::kCategoryIids, categories_.number(slice.category, interned_));
  if (const std::uint64_t name = names_.number(slice.name, interned_); name != 0)
    event.add_uint64(field::event::kNameIid, name);
  else
    event.add_string(field::event::kName, slice.name.data(), slice.name.size());
  add_annotations(event, slice);
  if (slice.flow != 0) event.add_fixed64(field::event::kFlows, slice.flow);
  write_event(slice.start_ns);
}

}  // namespace

core::Result<std::unique_ptr<TimelineWriter>> make_perfetto_writer(const std::string& file, core::ClockId home_clock,
                                                                   const std::vector<ClockReading>& clocks) {
  AACO_ASSIGN(auto output, OutputFile::create(file));
  return std::make_unique<PerfettoWriter>(std::move(output), home_clock, clocks);
}

}  // namespace aaco::tracelake::perfetto
