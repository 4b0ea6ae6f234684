#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/account.h"
#include "tracelake/perfetto/lanes.h"
#include "tracelake/perfetto/timeline_writer.h"

namespace aaco::tracelake::perfetto {

// Every row of a timeline, made when the first event for it comes.
class TrackSet {
 public:
  TrackSet(TimelineWriter& writer, trace::Account& account) : writer_(writer), account_(account) {}

  enum class Group { host, scheduler, device, requests };
  // A heading of a rank: its host, its scheduler, one of its devices, or the requests to a server.
  TrackId group(Group group, std::int64_t rank, std::int64_t device = 0);
  // A process of the system, and a thread of one. Ranks may have the same numbers on different hosts: they are kept apart.
  template <class MakeName>
  TrackId process(std::int64_t rank, std::int64_t process_id, const MakeName& make_name) {
    const auto found = processes_.find({rank, process_id});
    return found != processes_.end() ? found->second : add_process(rank, process_id, make_name());
  }

  // Adds a slice to a row under `parent`, which is named by `make_name` the first time. What cannot be shown is counted.
  template <class MakeName>
  void slice(TrackId parent, std::int64_t row, Lanes::Overlap overlap, const Slice& slice, const MakeName& make_name) {
    if (!can_be_shown(slice)) return;
    auto found = lanes_.find({parent, row});
    if (found == lanes_.end())
      found =
          lanes_.emplace(std::pair(parent, row), Lanes(writer_, TrackInfo{.name = make_name(), .parent = parent}, overlap)).first;
    add(found->second, slice);
  }
  // The same for a thread.
  void thread_slice(std::int64_t rank, std::int64_t process_id, std::int64_t thread_id, TrackId process, std::string_view name,
                    const Slice& slice);

  // A value of the counter `name` under `parent`; its unit is the end of `metric`.
  void counter(TrackId parent, const std::string& name, std::string_view metric, std::int64_t time_ns, double value);

  // Ends every open slice.
  void close();

 private:
  TrackId add_process(std::int64_t rank, std::int64_t process_id, const std::string& name);
  bool can_be_shown(const Slice& slice);
  void add(Lanes& lanes, const Slice& slice);

  TimelineWriter& writer_;
  trace::Account& account_;
  std::map<std::tuple<Group, std::int64_t, std::int64_t>, TrackId> groups_;
  std::map<std::pair<std::int64_t, std::int64_t>, TrackId> processes_;
  std::map<std::pair<TrackId, std::int64_t>, Lanes> lanes_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, Lanes> threads_;
  std::map<std::pair<TrackId, std::string>, TrackId> counters_;
};

}  // namespace aaco::tracelake::perfetto
