#pragma once

#include <cstdint>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>
#include <string>
#include <vector>

#include "tracelake/perfetto/perfetto_fields.h"

namespace aaco::tracelake::perfetto {

// A Perfetto file read back by tests, and what is wrong with its references: every number that is used must have been given
// before.
struct DecodedTrace {
  struct Track {
    std::string name;
    std::uint64_t parent = 0;
    std::int64_t process_id = -1;
    std::int64_t thread_id = -1;
    bool counter = false;
    std::string unit_name;
  };
  struct Slice {
    std::uint64_t track = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = -1;
    std::string name, category;
    std::size_t depth = 0;
    std::string parent;  // the name of the slice around it
    std::set<std::uint64_t> flows;
    std::map<std::string, std::string> arguments;
  };
  struct Value {
    std::uint64_t track = 0;
    std::int64_t time_ns = 0;
    double value = 0;
  };
  std::map<std::uint64_t, Track> tracks;
  std::vector<Slice> slices;
  std::vector<Value> values;
  std::vector<std::map<std::uint32_t, std::uint64_t>> clocks;
  std::uint32_t timestamp_clock = 0;
  std::vector<std::string> problems;

  [[nodiscard]] const Slice* find(const std::string& name) const {
    for (const Slice& slice : slices)
      if (slice.name == name) return &slice;
    return nullptr;
  }
  [[nodiscard]] std::string track_of(const Slice& slice) const { return tracks.at(slice.track).name; }
};

class TraceDecoder {
 public:
  static DecodedTrace decode(const std::string& bytes) {
    TraceDecoder decoder;
    try {
      protozero::pbf_reader trace(bytes);
      while (trace.next(field::trace::kPacket)) decoder.packet(trace.get_message());
    } catch (const protozero::exception& error) {
      decoder.problem(std::string("not a protocol buffer: ") + error.what());
    }
    for (const auto& [track, open] : decoder.open_)
      if (!open.empty()) decoder.problem("a slice of track " + std::to_string(track) + " never ends");
    return std::move(decoder.out_);
  }

 private:
  void problem(std::string what) { out_.problems.push_back(std::move(what)); }

  void packet(protozero::pbf_reader message) {
    std::int64_t time = -1;
    bool sequence = false;
    std::uint32_t flags = 0;
    protozero::data_view event;
    while (message.next()) {
      switch (message.tag()) {
        case field::packet::kTimestamp: time = static_cast<std::int64_t>(message.get_uint64()); break;
        case field::packet::kSequenceId: sequence = message.get_uint32() != 0; break;
        case field::packet::kSequenceFlags: flags = message.get_uint32(); break;
        case field::packet::kInternedData: interned(message.get_message()); break;
        case field::packet::kTrackDescriptor: track(message.get_message()); break;
        case field::packet::kDefaults: defaults(message.get_message()); break;
        case field::packet::kClockSnapshot: snapshot(message.get_message()); break;
        case field::packet::kTrackEvent: event = message.get_view(); break;
        default: problem("field " + std::to_string(message.tag()) + " of a packet"); message.skip();
      }
    }
    if (!sequence) problem("a packet without a sequence");
    if (first_ && flags != field::kStateCleared) problem("the first packet does not clear the state");
    first_ = false;
    if (event.empty()) return;
    if (time < 0) problem("an event without a time");
    if ((flags & field::kNeedsState) == 0) problem("an event that does not ask for the state it uses");
    track_event(protozero::pbf_reader(event), time);
  }

  void defaults(protozero::pbf_reader message) {
    while (message.next(field::defaults::kTimestampClock)) out_.timestamp_clock = message.get_uint32();
  }

  void snapshot(protozero::pbf_reader message) {
    auto& clocks = out_.clocks.emplace_back();
    while (message.next(field::clock_snapshot::kClocks)) {
      protozero::pbf_reader clock = message.get_message();
      std::uint32_t id = 0;
      while (clock.next()) {
        if (clock.tag() == field::clock_snapshot::kClockId)
          id = clock.get_uint32();
        else
          clocks[id] = clock.get_uint64();
      }
    }
  }

  void interned(protozero::pbf_reader message) {
    while (message.next()) {
      const std::uint32_t kind = message.tag();
      protozero::pbf_reader entry = message.get_message();
      std::uint64_t id = 0;
      std::string text;
      while (entry.next()) {
        if (entry.tag() == field::interned::kIid)
          id = entry.get_uint64();
        else
          text = entry.get_string();
      }
      if (id == 0 || !texts_[kind].emplace(id, text).second) problem("interned text " + std::to_string(id) + " twice or 0");
    }
  }

  std::string text(std::uint32_t kind, std::uint64_t id) {
    const auto found = texts_[kind].find(id);
    if (found != texts_[kind].end()) return found->second;
    problem("interned text " + std::to_string(id) + " is used before it is given");
    return {};
  }

  void track(protozero::pbf_reader message) {
    DecodedTrace::Track track;
    std::uint64_t uuid = 0;
    while (message.next()) {
      switch (message.tag()) {
        case field::track::kUuid: uuid = message.get_uint64(); break;
        case field::track::kName: track.name = message.get_string(); break;
        case field::track::kParent: track.parent = message.get_uint64(); break;
        case field::track::kProcess: ids(message.get_message(), track.process_id, track.process_id); break;
        case field::track::kThread: ids(message.get_message(), track.process_id, track.thread_id); break;
        case field::track::kCounter:
          track.counter = true;
          unit(message.get_message(), track);
          break;
        default: problem("field of a track"); message.skip();
      }
    }
    if (track.name.empty()) problem("a track without a name");
    if (track.parent != 0 && !out_.tracks.contains(track.parent)) problem("track " + track.name + " has an unknown parent");
    if (uuid == 0 || !out_.tracks.emplace(uuid, track).second) problem("track number " + std::to_string(uuid) + " twice or 0");
  }

  static void ids(protozero::pbf_reader message, std::int64_t& first, std::int64_t& second) {
    while (message.next()) {
      if (message.tag() == field::track::kThreadPid)
        first = message.get_int32();
      else if (message.tag() == field::track::kThreadTid)
        second = message.get_int32();
      else
        message.skip();
    }
  }

  static void unit(protozero::pbf_reader message, DecodedTrace::Track& track) {
    while (message.next()) {
      if (message.tag() == field::track::kCounterUnitName)
        track.unit_name = message.get_string();
      else
        track.unit_name = std::to_string(message.get_enum());
    }
  }

  void annotation(protozero::pbf_reader message, DecodedTrace::Slice& slice) {
    std::string name, value;
    while (message.next()) {
      switch (message.tag()) {
        case field::annotation::kNameIid: name = text(field::interned::kAnnotationNames, message.get_uint64()); break;
        case field::annotation::kInt: value = std::to_string(message.get_int64()); break;
        case field::annotation::kDouble: value = std::to_string(message.get_double()); break;
        case field::annotation::kString: value = message.get_string(); break;
        default: problem("field of an annotation"); message.skip();
      }
    }
    slice.arguments[name] = value;
  }

  void track_event(protozero::pbf_reader message, std::int64_t time) {
    DecodedTrace::Slice slice;
    slice.start_ns = time;
    std::int32_t type = 0;
    double value = 0;
    while (message.next()) {
      switch (message.tag()) {
        case field::event::kType: type = message.get_enum(); break;
        case field::event::kTrack: slice.track = message.get_uint64(); break;
        case field::event::kNameIid: slice.name = text(field::interned::kNames, message.get_uint64()); break;
        case field::event::kName: slice.name = message.get_string(); break;
        case field::event::kCategoryIids: slice.category = text(field::interned::kCategories, message.get_uint64()); break;
        case field::event::kAnnotations: annotation(message.get_message(), slice); break;
        case field::event::kDoubleCounter: value = message.get_double(); break;
        case field::event::kFlows: slice.flows.insert(message.get_fixed64()); break;
        default: problem("field of an event"); message.skip();
      }
    }
    place(slice, type, value, time);
  }

  void place(DecodedTrace::Slice& slice, std::int32_t type, double value, std::int64_t time) {
    const auto track = out_.tracks.find(slice.track);
    if (track == out_.tracks.end()) return problem("an event on an unknown track");
    if (track->second.counter != (type == field::event::kTypeCounter)) problem("a wrong kind of event on " + track->second.name);
    auto& last = last_[slice.track];
    if (time < last) problem("time goes back on " + track->second.name);
    last = time;
    auto& open = open_[slice.track];
    if (type == field::event::kTypeCounter) {
      out_.values.push_back({slice.track, time, value});
    } else if (type == field::event::kTypeBegin) {
      slice.depth = open.size();
      if (!open.empty()) slice.parent = out_.slices[open.back()].name;
      open.push_back(out_.slices.size());
      out_.slices.push_back(slice);
    } else if (open.empty()) {
      problem("an end event without a begin event on " + track->second.name);
    } else {
      out_.slices[open.back()].end_ns = time;
      open.pop_back();
    }
  }

  DecodedTrace out_;
  bool first_ = true;
  std::map<std::uint32_t, std::map<std::uint64_t, std::string>> texts_;
  std::map<std::uint64_t, std::vector<std::size_t>> open_;
  std::map<std::uint64_t, std::int64_t> last_;
};

}  // namespace aaco::tracelake::perfetto
