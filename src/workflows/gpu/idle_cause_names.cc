#include "workflows/gpu/idle_cause_names.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace aaco::workflows {
namespace {

using analytics::gaps::HostCauseSum;

constexpr std::size_t kNamedFrames = 2;
constexpr double kAlmostAll = 0.9;  // of the time: further frames are not named

std::string frames_text(const HostCauseSum& sum, const trace::NameTable& names) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> frames;
  std::int64_t all = 0, named = 0;
  for (const auto& [name, time] : sum.frames) frames.emplace_back(-time, name), all += time;
  std::sort(frames.begin(), frames.end());
  std::string text;
  std::size_t count = 0;
  for (const auto& [time, name] : frames) {
    if (count == kNamedFrames || static_cast<double>(named) >= kAlmostAll * static_cast<double>(all)) break;
    text += (count++ == 0 ? " in " : ", ") + std::string(names.text(trace::NameId{name}));
    named -= time;
  }
  if (count < frames.size() && static_cast<double>(named) < kAlmostAll * static_cast<double>(all))
    text += " and " + std::to_string(frames.size() - count) + (frames.size() - count == 1 ? " other" : " others");
  return text;
}

}  // namespace

std::vector<IdleCause> idle_causes_of(const analytics::gaps::GapSums& sums, const analytics::gaps::CauseBook& book,
                                      const trace::NameTable& names) {
  std::vector<IdleCause> causes;
  for (const auto& [index, sum] : sums.host_causes) {
    IdleCause one{book.at(index), sum};
    const bool of_frame = one.cause.id == "event-wait" || one.cause.id == "peer-device" || one.cause.id == "host-function" ||
                          one.cause.id == "network" || one.cause.id == "serialisation";
    if (index == book.own().host_code || of_frame) one.cause.title += frames_text(sum, names);
    if (index == book.own().host_operator) one.cause.title = "host time" + frames_text(sum, names);
    causes.push_back(std::move(one));
  }
  std::stable_sort(causes.begin(), causes.end(), [](const auto& a, const auto& b) { return a.sum.idle_ns > b.sum.idle_ns; });
  return causes;
}

}  // namespace aaco::workflows
