#include "importers/xplane/plane.h"

#include <algorithm>

#include "core/numbers.h"
#include "formats/protobuf.h"

namespace aaco::importers::xplane {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Message;
using formats::protobuf::Wire;

// XPlane: id 1, name 2, lines 3, event_metadata 4, stat_metadata 5, stats 6. XLine: id 1, name 2, timestamp_ns 3, events 4,
// duration_ps 9, display_id 10, display_name 11. XEvent: metadata_id 1, offset_ps 2, duration_ps 3, stats 4, num_occurrences 5.
// XStat: metadata_id 1, double 2, uint64 3, int64 4, str 5, bytes 6, ref 7. XEventMetadata and XStatMetadata: id 1, name 2; of
// events display_name 4. A map's entry: key 1, value 2.

struct Entry {
  std::int64_t key = 0;
  std::string_view name;
};
Entry entry_of(std::string_view text) {
  Entry entry;
  std::string_view value;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint) entry.key = field.as_i64();
    if (field.number == 2 && field.wire == Wire::bytes) value = field.bytes;
  }
  Message metadata(value);
  for (Field field; metadata.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint && entry.key == 0) entry.key = field.as_i64();
    if (field.number == 2 && field.wire == Wire::bytes) entry.name = field.bytes;
  }
  return entry;
}

// line start + ps, rounded down to ns.
std::optional<std::int64_t> time_of(std::int64_t start_ns, std::int64_t ps) {
  std::int64_t sum = 0;
  const std::int64_t ns = ps >= 0 ? ps / 1000 : -((-(ps + 1)) / 1000) - 1;
  return __builtin_add_overflow(start_ns, ns, &sum) ? std::nullopt : std::optional(sum);
}

}  // namespace

Plane::Plane(std::string_view text) : text_(text) {
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.wire != Wire::bytes) continue;
    if (field.number == 2) name_ = field.bytes;
    if (field.number != 4 && field.number != 5) continue;
    const Entry entry = entry_of(field.bytes);
    (field.number == 4 ? event_names_ : statistic_names_).insert_or_assign(entry.key, entry.name);
  }
  whole_ = !message.damaged();
}

void Plane::read(xla::Rows& rows, trace::Account& account) {
  Message message(text_);
  for (Field field; message.next(field);)
    if (field.number == 3 && field.wire == Wire::bytes) read_line(field.bytes, rows, account);
}

void Plane::read_line(std::string_view text, xla::Rows& rows, trace::Account& account) {
  xla::Place place{name_, {}, 0};
  std::int64_t start_ns = 0;
  std::string_view display_name;
  Message head(text);
  for (Field field; head.next(field);) {
    if (field.number == 1 && field.wire == Wire::varint) place.line_id = field.as_i64();
    if (field.number == 2 && field.wire == Wire::bytes) place.line = field.bytes;
    if (field.number == 3 && field.wire == Wire::varint) start_ns = field.as_i64();
    if (field.number == 11 && field.wire == Wire::bytes) display_name = field.bytes;
  }
  if (place.line.empty()) place.line = display_name;
  if (head.damaged()) whole_ = false;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number != 4 || field.wire != Wire::bytes) continue;
    ++events_;
    xla::Event event;
    const char* problem = nullptr;
    if (read_event(field.bytes, start_ns, event, problem))
      rows.add(place, event);
    else
      account.drop(problem);
  }
}

bool Plane::read_event(std::string_view text, std::int64_t line_start_ns, xla::Event& event, const char*& problem) const {
  std::int64_t offset_ps = 0, duration_ps = 0, metadata = 0;
  bool aggregated = false;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number == 4 && field.wire == Wire::bytes) apply(statistic(field.bytes), event);
    if (field.wire != Wire::varint) continue;
    if (field.number == 1) metadata = field.as_i64();
    if (field.number == 2) offset_ps = field.as_i64();
    if (field.number == 3) duration_ps = field.as_i64();
    if (field.number == 5) aggregated = true;
  }
  if (message.damaged()) return problem = "malformed event", false;
  if (aggregated) return problem = "aggregated events (counts without times)", false;
  const auto name = event_names_.find(metadata);
  if (name == event_names_.end() || name->second.empty()) return problem = "events without a name", false;
  event.name = name->second;
  std::int64_t end_ps = 0;
  if (__builtin_add_overflow(offset_ps, duration_ps, &end_ps)) return problem = "timestamp out of range", false;
  const auto start = time_of(line_start_ns, offset_ps), end = time_of(line_start_ns, end_ps);
  if (!start || !end) return problem = "timestamp out of range", false;
  event.start_ns = *start;
  event.end_ns = *end;
  return true;
}

Plane::Statistic Plane::statistic(std::string_view text) const {
  Statistic out;
  Message message(text);
  for (Field field; message.next(field);) {
    const auto name = [&](std::int64_t id) {
      const auto known = statistic_names_.find(id);
      return known == statistic_names_.end() ? std::string_view() : known->second;
    };
    switch (field.number) {
      case 1: out.name = name(field.as_i64()); break;
      case 3:
      case 4: out.value = field.value; break;
      case 5: out.text = field.bytes; break;
      case 7: out.text = name(field.as_i64()); break;
      default: break;
    }
  }
  return out;
}

void Plane::apply(const Statistic& statistic, xla::Event& event) const {
  if (statistic.name == "correlation_id") event.correlation_id = statistic.value;
  if (statistic.name == "kernel_details") event.kernel_details = statistic.text;
  if (statistic.name == "memcpy_details") event.copy_details = statistic.text;
  if (statistic.name == "memset_details") event.memset = true;
  if (statistic.name == "step_num") event.step = static_cast<std::int64_t>(statistic.value);
}

}  // namespace aaco::importers::xplane
