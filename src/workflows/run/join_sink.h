#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>

#include "trace/api_domains.h"
#include "workflows/run/traced_calls.h"

namespace aaco::workflows {

// The second reading of the trace: rows go into the session with the ids of the hooked calls that they belong to. A call that the
// hooks recorded too is left out.
class JoinSink final : public trace::EveryRowTo<JoinSink> {
 public:
  struct Counts {
    std::int64_t by_correlation = 0, by_order = 0;
    std::map<analytics::call_join::Reason, std::int64_t> apart;
  };
  JoinSink(trace::Sink& target, const TracedCalls& traced, const TraceJoin& join)
      : target_(target), traced_(traced), join_(join) {}
  using EveryRowTo::add;
  void add(const trace::ApiCallRow& row) override {
    trace::ApiCallRow own = row;
    own.rank = rank_of(row.rank);
    if (row.correlation_id != 0 && is_runtime(row.domain)) {
      if (join_.hooked.contains(calls_++)) {
        ++same_calls;
        return;
      }
    }
    if (own.correlation_id != 0) own.correlation_id += join_.first_free;
    target_.add(own);
  }
  void add(const trace::KernelRow& row) override {
    trace::KernelRow own = row;
    own.rank = rank_of(row.rank);
    const std::uint64_t index = kernels_++;
    if (const auto found = join_.ordered.find(index); found != join_.ordered.end()) {
      own.correlation_id = found->second;
      ++kernels.by_order;
    } else if (const auto why = join_.disordered.find(index); why != join_.disordered.end()) {
      own.correlation_id = 0;
      ++kernels.apart[why->second];
    } else {
      own.correlation_id = joined(row.rank, row.correlation_id, kernels);
    }
    target_.add(own);
  }
  void add(const trace::CopyRow& row) override {
    trace::CopyRow own = row;
    own.rank = rank_of(row.rank);
    own.correlation_id = joined(row.rank, row.correlation_id, copies);
    target_.add(own);
  }
  void add(const trace::CollectiveRow& row) override {
    trace::CollectiveRow own = row;
    own.rank = rank_of(row.rank);
    Counts uncounted;
    own.correlation_id = joined(row.rank, row.correlation_id, uncounted);
    target_.add(own);
  }
  template <class Row>
  void take(const Row& row) {
    Row own = row;
    if constexpr (requires { own.rank; }) own.rank = rank_of(row.rank);
    target_.add(own);
  }
  trace::NameId name(std::string_view text) override {
    const trace::NameId id = target_.name(text);
    if (trace::is_gpu_runtime(text)) runtimes_.insert(id.value);
    return id;
  }
  [[nodiscard]] core::Status status() const override { return target_.status(); }

  Counts kernels, copies;
  std::int64_t same_calls = 0;  // of the trace that the hooks have

 private:
  using Reason = analytics::call_join::Reason;
  [[nodiscard]] bool is_runtime(trace::NameId domain) const { return runtimes_.contains(domain.value); }
  [[nodiscard]] std::int32_t rank_of(std::int32_t rank) const {
    const auto found = join_.ranks.find(rank);
    return found != join_.ranks.end() ? found->second : join_.first_free_rank + rank;
  }
  std::uint64_t joined(std::int32_t rank, std::uint64_t correlation_id, Counts& counts) const {
    const auto [first, last] = traced_.find(rank, correlation_id);
    for (const auto* const known : {&join_.hooked, &join_.inner})
      for (const auto* launch = first; launch != last; ++launch)
        if (const auto found = known->find(launch->index); found != known->end()) {
          ++counts.by_correlation;
          return found->second;
        }
    Reason why = traced_.full ? Reason::limit : first == last ? Reason::no_launch : Reason::other_function;
    for (const auto* launch = first; launch != last; ++launch)
      if (const auto found = join_.apart.find(launch->index); found != join_.apart.end()) why = found->second;
    ++counts.apart[why];
    return correlation_id == 0 ? 0 : correlation_id + join_.first_free;
  }

  trace::Sink& target_;
  const TracedCalls& traced_;
  const TraceJoin& join_;
  std::set<std::uint32_t> runtimes_;  // domains of GPU runtimes
  std::uint64_t calls_ = 0, kernels_ = 0;
};

}  // namespace aaco::workflows
