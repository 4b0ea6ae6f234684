#pragma once

#include <cstdint>

// Field numbers of Perfetto's trace format, as far as AACO writes it (perfetto repository, protos/perfetto/trace: trace.proto,
// trace_packet.proto, clock_snapshot.proto, interned_data.proto, track_event/*.proto). tests/fixtures/perfetto/trace.proto says
// the same for protoc.
namespace aaco::tracelake::perfetto::field {

namespace trace {
inline constexpr std::uint32_t kPacket = 1;
}
namespace packet {
inline constexpr std::uint32_t kClockSnapshot = 6;
inline constexpr std::uint32_t kTimestamp = 8;
inline constexpr std::uint32_t kSequenceId = 10;
inline constexpr std::uint32_t kTrackEvent = 11;
inline constexpr std::uint32_t kInternedData = 12;
inline constexpr std::uint32_t kSequenceFlags = 13;
inline constexpr std::uint32_t kDefaults = 59;
inline constexpr std::uint32_t kTrackDescriptor = 60;
}  // namespace packet
namespace defaults {
inline constexpr std::uint32_t kTimestampClock = 58;
}
namespace clock_snapshot {
inline constexpr std::uint32_t kClocks = 1;
inline constexpr std::uint32_t kPrimaryClock = 2;
inline constexpr std::uint32_t kClockId = 1;         // of a clock
inline constexpr std::uint32_t kClockTimestamp = 2;  // of a clock
}  // namespace clock_snapshot
namespace track {
inline constexpr std::uint32_t kUuid = 1;
inline constexpr std::uint32_t kName = 2;
inline constexpr std::uint32_t kProcess = 3;
inline constexpr std::uint32_t kThread = 4;
inline constexpr std::uint32_t kParent = 5;
inline constexpr std::uint32_t kCounter = 8;
inline constexpr std::uint32_t kProcessPid = 1;
inline constexpr std::uint32_t kProcessName = 6;
inline constexpr std::uint32_t kThreadPid = 1;
inline constexpr std::uint32_t kThreadTid = 2;
inline constexpr std::uint32_t kThreadName = 5;
inline constexpr std::uint32_t kCounterUnit = 3;
inline constexpr std::uint32_t kCounterUnitName = 6;
}  // namespace track
namespace event {
inline constexpr std::uint32_t kCategoryIids = 3;
inline constexpr std::uint32_t kAnnotations = 4;
inline constexpr std::uint32_t kType = 9;
inline constexpr std::uint32_t kNameIid = 10;
inline constexpr std::uint32_t kTrack = 11;
inline constexpr std::uint32_t kName = 23;
inline constexpr std::uint32_t kDoubleCounter = 44;
inline constexpr std::uint32_t kFlows = 47;
inline constexpr std::int32_t kTypeBegin = 1;
inline constexpr std::int32_t kTypeEnd = 2;
inline constexpr std::int32_t kTypeCounter = 4;
}  // namespace event
namespace annotation {
inline constexpr std::uint32_t kNameIid = 1;
inline constexpr std::uint32_t kInt = 4;
inline constexpr std::uint32_t kDouble = 5;
inline constexpr std::uint32_t kString = 6;
}  // namespace annotation
namespace interned {
inline constexpr std::uint32_t kCategories = 1;
inline constexpr std::uint32_t kNames = 2;
inline constexpr std::uint32_t kAnnotationNames = 3;
inline constexpr std::uint32_t kIid = 1;   // of an entry
inline constexpr std::uint32_t kText = 2;  // of an entry
}  // namespace interned

inline constexpr std::uint32_t kStateCleared = 1;  // sequence flags
inline constexpr std::uint32_t kNeedsState = 2;
inline constexpr std::int32_t kUnitTimeNs = 1;  // counter units
inline constexpr std::int32_t kUnitCount = 2;
inline constexpr std::int32_t kUnitBytes = 3;
inline constexpr std::uint32_t kClockRealtime = 1;  // built-in clocks
inline constexpr std::uint32_t kClockMonotonic = 3;
inline constexpr std::uint32_t kClockMonotonicRaw = 5;
inline constexpr std::uint32_t kClockBoottime = 6;

}  // namespace aaco::tracelake::perfetto::field
