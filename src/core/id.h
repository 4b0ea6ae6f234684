#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace aaco::core {

// An integer id that does not mix with ids of another kind: `using KernelId = Id<struct KernelIdTag>`.
template <class Tag, class Integer = std::int32_t>
struct Id {
  Integer value = -1;  // -1: none
  [[nodiscard]] bool valid() const { return value >= 0; }
  auto operator<=>(const Id&) const = default;
};

// A session's name: "20261121T081530Z-3f9a1c".
struct SessionId {
  std::string text;
  auto operator<=>(const SessionId&) const = default;
};

// The id for a session that starts now: UTC time and six random hex digits, so that ids sort by time and writers do not collide.
SessionId make_session_id(std::int64_t realtime_ns, std::uint64_t entropy);

}  // namespace aaco::core

template <class Tag, class Integer>
struct std::hash<aaco::core::Id<Tag, Integer>> {
  std::size_t operator()(const aaco::core::Id<Tag, Integer>& id) const noexcept { return std::hash<Integer>()(id.value); }
};
