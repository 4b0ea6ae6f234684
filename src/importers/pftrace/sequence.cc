#include "importers/pftrace/sequence.h"

#include <algorithm>
#include <vector>

namespace aaco::importers::pftrace {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Message;
using formats::protobuf::Wire;

constexpr std::uint64_t kFirstOwnClock = 64, kLastOwnClock = 127;

bool is_own(std::uint64_t clock) { return clock >= kFirstOwnClock && clock <= kLastOwnClock; }

}  // namespace

void Sequence::clear() {
  names_.clear();
  clocks_.clear();
  default_clock_ = default_track_ = 0;
}

void Sequence::add_interned(std::string_view text, std::size_t& budget) {
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.wire != Wire::bytes || (field.number != 1 && field.number != 2 && field.number != 3 && field.number != 29))
      continue;
    std::uint64_t iid = 0;
    std::string_view name;
    Message entry(field.bytes);
    for (Field member; entry.next(member);) {
      if (member.number == 1 && member.wire == Wire::varint) iid = member.value;
      if (member.number == 2 && member.wire == Wire::bytes) name = member.bytes;
    }
    if (iid == 0 || name.size() > budget) continue;
    if (names_[static_cast<std::uint8_t>(field.number)].insert_or_assign(iid, std::string(name)).second) budget -= name.size();
  }
}

void Sequence::add_defaults(std::string_view text) {
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number == 58 && field.wire == Wire::varint) default_clock_ = field.value;
    if (field.number != 11 || field.wire != Wire::bytes) continue;  // TrackEventDefaults
    Message event(field.bytes);
    for (Field member; event.next(member);)
      if (member.number == 11 && member.wire == Wire::varint) default_track_ = member.value;
  }
}

void Sequence::add_clock_snapshot(std::string_view text) {
  struct Reading {
    std::uint64_t id = 0, time = 0, unit_ns = 1;
    bool incremental = false;
  };
  std::vector<Reading> readings;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.number != 1 || field.wire != Wire::bytes) continue;
    Reading reading;
    Message clock(field.bytes);
    for (Field member; clock.next(member);) {
      if (member.wire != Wire::varint) continue;
      if (member.number == 1) reading.id = member.value;
      if (member.number == 2) reading.time = member.value;
      if (member.number == 3) reading.incremental = member.value != 0;
      if (member.number == 4) reading.unit_ns = std::max<std::uint64_t>(1, member.value);
    }
    readings.push_back(reading);
  }
  const auto home = std::find_if(readings.begin(), readings.end(), [](const Reading& one) { return !is_own(one.id); });
  for (const Reading& reading : readings) {
    if (!is_own(reading.id)) continue;
    Clock clock;
    clock.last = static_cast<std::int64_t>(reading.time);
    clock.unit_ns = static_cast<std::int64_t>(std::min<std::uint64_t>(reading.unit_ns, 1'000'000'000));
    clock.incremental = reading.incremental;
    std::int64_t own_ns = 0;
    if (__builtin_mul_overflow(clock.last, clock.unit_ns, &own_ns)) continue;
    if (home != readings.end() && __builtin_sub_overflow(static_cast<std::int64_t>(home->time), own_ns, &clock.offset)) continue;
    clocks_[reading.id] = clock;
  }
}

std::optional<std::int64_t> Sequence::time(std::optional<std::uint64_t> stated, std::optional<std::uint64_t> clock_id) {
  if (!stated || *stated > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  const auto value = static_cast<std::int64_t>(*stated);
  const auto found = clocks_.find(clock_id.value_or(default_clock_));
  if (found == clocks_.end()) return value;
  Clock& clock = found->second;
  std::int64_t own = value;
  if (clock.incremental) {
    if (__builtin_add_overflow(clock.last, value, &own)) return std::nullopt;
    clock.last = own;
  }
  std::int64_t ns = 0;
  if (__builtin_mul_overflow(own, clock.unit_ns, &ns) || __builtin_add_overflow(ns, clock.offset, &ns)) return std::nullopt;
  return ns;
}

std::string_view Sequence::interned(Kind kind, std::uint64_t iid) const {
  const auto names = names_.find(static_cast<std::uint8_t>(kind));
  if (names == names_.end()) return {};
  const auto name = names->second.find(iid);
  return name == names->second.end() ? std::string_view() : std::string_view(name->second);
}

}  // namespace aaco::importers::pftrace
