#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analytics/fingerprint.h"
#include "analytics/timeline.h"
#include "core/numbers.h"
#include "core/result.h"
#include "tracelake/lake.h"
#include "workflows/gpu/analysis_columns.h"

namespace aaco::workflows {

// Collects, while a trace is analysed, what tells whether it has a timeline (analytics/timeline.h). Call order: add() of calls
// and counters, look_ahead(), add_work(), finish().
class TimelineWatch {
 public:
  void add(const trace::ApiCallRow& row, const trace::NameTable& names) {
    if (process_ == nullptr || row.rank != last_rank_ || row.process_id != last_process_) {
      last_rank_ = row.rank, last_process_ = row.process_id;
      process_ = &processes_.try_emplace({row.rank, row.process_id}, analytics::trace_time::RankSpan{row.start_ns, row.end_ns})
                      .first->second;
    }
    *process_ = {std::min(process_->start_ns, row.start_ns), std::max(process_->end_ns, row.end_ns)};
    if (row.name.value >= kinds_.size()) kinds_.resize(names.size(), Kind::unseen);
    Kind& kind = kinds_[row.name.value];
    if (kind == Kind::unseen) {
      const std::string_view name = names.text(row.name);
      kind = name.find("LaunchKernel") != name.npos         ? Kind::launch
             : name.find("StreamBeginCapture") != name.npos ? Kind::capture
             : names.text(row.domain) == "cpu_op"           ? Kind::op
                                                            : Kind::other;
    }
    if (kind == Kind::launch) ++facts_.launch_count;
    if (kind == Kind::op) ops_ = {std::min(ops_.start_ns, row.start_ns), std::max(ops_.end_ns, row.start_ns)};
    if (kind == Kind::launch) work_until_ns_ = std::max(work_until_ns_, row.start_ns);
    holes_.add(row, names);
    if (kind == Kind::capture) facts_.has_captures = true;
  }
  void add(const trace::KernelCounterRow& row) {
    facts_.counted_dispatch_count = std::max(facts_.counted_dispatch_count, ++counted_[row.counter.value]);
  }

  // Kernels without any host event may be no timeline: then none of their gaps is worth a row.
  template <class GoOn>
  core::Status look_ahead(bool has_host_events, const std::string& path, trace::NameTable& names,
                          const analytics::fingerprint::PatternBook& book, const GoOn& go_on) {
    facts_.has_host_events = has_host_events;
    if (has_host_events) return {};
    analytics::trace_time::IdOrder order;
    std::map<std::uint32_t, bool> collective;  // by name
    AACO_ASSIGN(const auto kernels, tracelake::open_rows<trace::KernelRow>(path, names, only_ids()));
    for (;;) {
      AACO_ASSIGN(const auto rows, kernels->next());
      if (rows.empty()) break;
      for (const auto& row : rows) {
        order.add(row);
        ++facts_.kernel_count;
        const auto [known, fresh] = collective.try_emplace(row.name.value, false);
        if (fresh) known->second = book.classify(names.text(row.name)).family == analytics::fingerprint::Family::collective;
        if (known->second) ++facts_.collective_count;
      }
      AACO_TRY(go_on());
    }
    order.fill(facts_);
    none_ = why_no_timeline(facts_);
    return {};
  }

  void add_work(std::int32_t rank, std::int64_t start_ns, std::int64_t end_ns) {
    holes_.add_work(rank, start_ns, end_ns);
    work_until_ns_ = std::max(work_until_ns_, start_ns);
    auto& span = spans_.try_emplace(rank, analytics::trace_time::RankSpan{start_ns, end_ns}).first->second;
    span = {std::min(span.start_ns, start_ns), std::max(span.end_ns, end_ns)};
  }
  // The first event of the rank's host.
  [[nodiscard]] std::optional<std::int64_t> host_start(std::int32_t rank) const {
    std::optional<std::int64_t> first;
    for (const auto& [process, span] : processes_)
      if (process.first == rank) first = std::min(first.value_or(span.start_ns), span.start_ns);
    return first;
  }
  // Times in which the profiler was off. After all work.
  [[nodiscard]] std::vector<analytics::trace_time::RecordingHole> holes() const { return holes_.finish(); }
  // Of what is known so far.
  [[nodiscard]] bool has_timeline() const { return !none_; }

  // `may_be_one`: nothing says that the files are of different processes; `is_cut`: at least one of them ends early.
  template <class Devices>
  std::optional<analytics::trace_time::NoTimeline> finish(const Devices& devices, bool may_be_one, bool is_cut) {
    facts_.kernel_count = facts_.collective_count = facts_.copy_count = 0;
    for (const auto& gpu : devices) {
      facts_.kernel_count += gpu.time.kernel_count;
      facts_.collective_count += gpu.time.collective_count;
      facts_.copy_count += gpu.time.copy_count;
      if (gpu.time.span_ns <= 0) continue;
      const double idle = static_cast<double>(gpu.time.idle_ns) / static_cast<double>(gpu.time.span_ns);
      facts_.idle_ratio = std::max(facts_.idle_ratio, idle);
    }
    facts_.is_cut = is_cut;
    for (const auto& gpu : devices) facts_.linked_count += gpu.time.launch.kernel_count;
    take_holes();
    for (const auto& [rank, span] : spans_) facts_.ranks.push_back(span);
    facts_.one_process = may_be_one && one_process();
    // Ranks of one job may have clocks of their own: where there are collectives, processes of different ranks are not compared.
    std::map<std::int32_t, std::size_t> of_rank;
    for (const auto& [process, span] : processes_) ++of_rank[process.first];
    for (const auto& [process, span] : processes_)
      if (facts_.collective_count == 0 || of_rank.size() == 1 || of_rank[process.first] > 1) facts_.processes.push_back(span);
    auto none = why_no_timeline(facts_);
    return none || !is_cut ? none : lost_tail();
  }

 private:
  enum class Kind : std::uint8_t { unseen, other, op, launch, capture };

  // Of a file that ends early: operators begin long after the last launch and the last work, in which such a trace has their
  // launches. What was written in another order than that of time is cut elsewhere.
  [[nodiscard]] std::optional<analytics::trace_time::NoTimeline> lost_tail() const {
    constexpr double kLongTail = 0.2;  // of the operators' time (our own judgement)
    const auto tail = static_cast<double>(ops_.end_ns - work_until_ns_);
    if (work_until_ns_ == INT64_MIN || ops_.end_ns <= work_until_ns_ ||
        tail < kLongTail * static_cast<double>(ops_.end_ns - ops_.start_ns))
      return std::nullopt;
    return analytics::trace_time::NoTimeline{
        "cut-file", "the file is truncated: operators are recorded for " + core::format_duration(tail) +
                        " after the last launch and the last work of a device, whose events are missing. Export the trace again, "
                        "or copy the complete file"};
  }

  // Those of the rank whose span they take most of.
  void take_holes() {
    std::map<std::int32_t, std::vector<analytics::trace_time::RecordingHole>> of_ranks;
    for (const auto& hole : holes_.finish()) of_ranks[hole.rank].push_back(hole);
    for (auto& [rank, holes] : of_ranks) {
      std::int64_t sum = 0;
      for (const auto& hole : holes) sum += hole.end_ns - hole.start_ns;
      const auto& span = spans_.at(rank);
      const double ratio = static_cast<double>(sum) / static_cast<double>(std::max<std::int64_t>(1, span.end_ns - span.start_ns));
      if (ratio <= facts_.hole_ratio) continue;
      facts_.hole_ratio = ratio;
      facts_.holes = std::move(holes);
    }
  }

  // Whether a process of the same number launched the work of every rank. Numbers made for processes with a text are negative.
  [[nodiscard]] bool one_process() const {
    std::map<std::int64_t, std::size_t> ranks_of;
    for (const auto& [key, span] : processes_)
      if (key.second > 0 && spans_.contains(key.first)) ++ranks_of[key.second];
    return std::any_of(ranks_of.begin(), ranks_of.end(), [&](const auto& one) { return one.second == spans_.size(); });
  }

  analytics::trace_time::TimelineFacts facts_;
  analytics::trace_time::RankSpan ops_{INT64_MAX, INT64_MIN};  // first and last start of operators
  std::int64_t work_until_ns_ = INT64_MIN;                     // last start of a launch or of work
  analytics::trace_time::RecordingHoles holes_;
  std::optional<analytics::trace_time::NoTimeline> none_;
  std::vector<Kind> kinds_;                                                                     // of calls, by name id
  std::map<std::uint32_t, std::int64_t> counted_;                                               // dispatches by counter
  std::map<std::int32_t, analytics::trace_time::RankSpan> spans_;                               // by rank
  std::map<std::pair<std::int32_t, std::int64_t>, analytics::trace_time::RankSpan> processes_;  // of calls, by rank
  analytics::trace_time::RankSpan* process_ = nullptr;                                          // the last one's, of these
  std::int32_t last_rank_ = 0;
  std::int64_t last_process_ = 0;
};

}  // namespace aaco::workflows
