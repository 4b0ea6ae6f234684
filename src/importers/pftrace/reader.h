#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "importers/pftrace/sequence.h"
#include "importers/pftrace/slice.h"
#include "trace/account.h"
#include "trace/sink.h"

namespace aaco::importers::pftrace {

// Packets as rows. Call packet() with each, then finish().
class Reader {
 public:
  static constexpr std::size_t kMaxOpen = 1'000'000, kMaxTracks = 1'000'000, kMaxSequences = 100'000;

  Reader(trace::Sink& sink, trace::Account& account) : sink_(sink), account_(account) {}
  core::Status packet(std::string_view text);
  void finish();
  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  struct Track {
    std::string name;
    std::uint64_t parent = 0;
    std::optional<std::int64_t> process, thread;
  };
  void track(std::string_view text);
  void event(std::string_view text, std::optional<std::int64_t> time, const Sequence& sequence);
  void close(const Slice& slice, std::int64_t end_ns);
  void kernel(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns);
  void copy(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns);
  void call(const Slice& slice, const Track& track, std::int64_t start_ns, std::int64_t end_ns);
  [[nodiscard]] const Track& track_of(std::uint64_t uuid) const;
  [[nodiscard]] std::optional<std::int64_t> thread_of(std::uint64_t uuid) const;
  [[nodiscard]] std::int32_t rank_of(std::uint64_t uuid) const;
  trace::NameId name(std::string_view text);

  trace::Sink& sink_;
  trace::Account& account_;
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::unordered_map<std::uint64_t, std::vector<Slice>> open_;  // by track
  std::size_t open_count_ = 0;
  std::size_t interned_budget_ = Sequence::kMaxInternedBytes;
  std::map<std::string, trace::NameId, std::less<>> names_;
  std::int64_t events_ = 0;
};

}  // namespace aaco::importers::pftrace
