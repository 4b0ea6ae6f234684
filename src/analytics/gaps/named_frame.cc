#include <algorithm>
#include <string>

#include "analytics/gaps.h"

// A host frame that explains a gap by its own name, where no pattern knows what it does.
namespace aaco::analytics::gaps {
namespace {

constexpr std::size_t kInnermost = 2;      // frames of a chain that are named beside the outermost
constexpr std::size_t kMaxFrameName = 60;  // characters; the function is at the end

// "<built-in method sort of numpy.ndarray object at 0x7f1a>" without the address, which differs from run to run.
std::string without_address(std::string_view name) {
  constexpr std::string_view kAt = " object at 0x";
  std::string out(name);
  for (std::size_t at = out.find(kAt); at != std::string::npos; at = out.find(kAt, at)) {
    const std::size_t end = std::min(out.find_first_not_of("0123456789abcdefABCDEF", at + kAt.size()), out.size());
    out.erase(at, end - at);
  }
  return out;
}

std::string_view tail(std::string_view name) {
  if (name.size() <= kMaxFrameName) return name;
  name.remove_prefix(name.size() - kMaxFrameName);
  const auto folder = name.find('/');  // of a path: whole names
  if (folder != std::string_view::npos && folder < kMaxFrameName / 2) name.remove_prefix(folder + 1);
  while (!name.empty() && (static_cast<unsigned char>(name.front()) & 0xC0U) == 0x80U) name.remove_prefix(1);  // inside a letter
  return name;
}

constexpr std::size_t kLaunchesKept = 64;  // of a thread: those inside one gap and the one before it

}  // namespace

void GapExplainer::remember_launch(const trace::ApiCallRow& row) {
  if (const Place place(row.rank, row.thread_id); last_launches_.second == nullptr || last_launches_.first != place)
    last_launches_ = {place, &launch_starts_[place]}, last_loads_ = &loads_[row.rank];
  ++last_loads_->launch_count;
  auto& starts = *last_launches_.second;
  starts.push_back(row.start_ns);
  if (starts.size() > kLaunchesKept) starts.pop_front();
}

// A model is loaded before it computes. Weights that are loaded once more after computations, for the second time and later, are
// streamed. Called once for each gap in which weights are loaded. A load of one tensor launches a copy and a conversion or two.
bool GapExplainer::streams_weights(std::int32_t rank) {
  constexpr std::int64_t kComputing = 8;  // launches between two loads; our own judgement
  constexpr std::int64_t kRounds = 2;
  Loads& loads = loads_[rank];
  const bool computed = loads.launches_at_load && loads.launch_count - *loads.launches_at_load >= kComputing;
  loads.launches_at_load = loads.launch_count;
  if (computed) ++loads.round_count;
  return computed && loads.round_count >= kRounds;
}

// Python functions, operators and ranges of the launching thread that launch nothing: between the launch before and the one that
// ends the gap. `named`: those that fill half of the time in which the device waited for the host, the outermost first; where
// none does but operators of milliseconds together do, the longest of these. A shorter wait than an eager framework needs for its
// next operator names nothing.
GapExplainer::NamedFrames GapExplainer::named_frames(const Gap& gap) const {
  NamedFrames found;
  if (!gap.launch) return found;
  const NextLaunch& launch = *gap.launch;
  const std::int64_t waited = std::min(launch.start_ns, gap.end_ns) - gap.start_ns;
  if (waited < kLaunchGapNs) return found;
  std::int64_t since = INT64_MIN;
  if (const auto starts = launch_starts_.find({gap.rank, launch.thread_id}); starts != launch_starts_.end())
    for (const std::int64_t start : starts->second)
      if (start < launch.start_ns) since = std::max(since, start);
  const Call* longest = nullptr;  // of the operators
  std::int64_t computed_ns = 0, counted_until = INT64_MIN;
  for (const Call& call : calls_) {
    if (call.is_runtime() || call.is_overhead() || call.domain == HostDomain::os || call.rank != gap.rank ||
        call.thread_id != launch.thread_id || call.cause == book_->own().unknown)
      continue;
    if (call.start_ns < since || call.end_ns > launch.start_ns) continue;
    const std::int64_t start = std::max(call.start_ns, gap.start_ns), overlap = call.end_ns - start;
    if (2 * overlap >= waited) found.named.push_back(&call);
    if (overlap < kLongOperatorNs || (call.cause && !book_->at(*call.cause).weak)) continue;
    found.others.push_back(&call);
    if (call.domain != HostDomain::cpu_op) continue;
    if (longest == nullptr || call.end_ns - call.start_ns > longest->end_ns - longest->start_ns) longest = &call;
    computed_ns += std::max<std::int64_t>(0, call.end_ns - std::max(start, counted_until));  // in order of start
    counted_until = std::max(counted_until, call.end_ns);
  }
  const auto longer = [](const Call* a, const Call* b) { return a->end_ns - a->start_ns > b->end_ns - b->start_ns; };
  std::stable_sort(found.named.begin(), found.named.end(), longer);
  const bool in_operators =
      std::any_of(found.named.begin(), found.named.end(), [](const Call* call) { return call->domain == HostDomain::cpu_op; });
  if (!in_operators && 2 * computed_ns >= waited) found.named.push_back(longest);
  return found;
}

// What a frame of named_frames() is the time of. An operator's first call that is long, and comes before a kernel that was never
// launched before, sets something up; one that is long each time computes.
CauseIndex GapExplainer::frame_cause(const Call& frame, const Gap& gap) const {
  const auto& own = book_->own();
  if (const auto alone = book_->match_alone(frame.domain, names_.text(frame.name))) return *alone;
  if (frame.domain != HostDomain::cpu_op) return own.host_code;
  const bool first = is_first_call(frame) && gap.launch->is_first;
  return first && frame.end_ns - frame.start_ns >= kLongLaunchNs ? own.first_use : own.host_operator;
}

// "evaluate.py(77): metrics > _ranking.py(570): roc_auc_score > arraysetops.py(138): unique", the ones between left out.
trace::NameId GapExplainer::chain_of(const std::vector<const Call*>& frames) {
  if (frames.back()->domain == HostDomain::cpu_op || frames.size() == 1)
    return names_.intern(without_address(names_.text(frames.back()->name)));
  std::string text, last;
  bool left_out = false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (i > 0 && i + kInnermost < frames.size()) {
      left_out = true;
      continue;
    }
    const std::string full = without_address(names_.text(frames[i]->name));
    const std::string name(tail(full));
    if (name == last) continue;
    if (!text.empty()) text += left_out ? " > ... > " : " > ";
    left_out = false;
    text += last = name;
  }
  return names_.intern(text);
}

}  // namespace aaco::analytics::gaps
