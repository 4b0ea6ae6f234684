#include "workflows/explain/outside_work.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "analytics/gaps.h"
#include "analytics/host_profile.h"
#include "core/files.h"
#include "trace/api_domains.h"
#include "tracelake/lake.h"

namespace aaco::workflows {
namespace {

using analytics::gaps::HostProfile;
using core::Json;

constexpr double kSmallPart = 0.05;  // of the steps, below which nobody asks what the host did outside the device's work

struct Part {
  std::int64_t start_ns = 0, end_ns = 0;
  [[nodiscard]] std::int64_t length() const { return std::max<std::int64_t>(0, end_ns - start_ns); }
};

std::optional<Part> steps_of(LoadedSession& loaded, std::int32_t rank) {
  std::optional<Part> all;
  const auto rows = loaded.rows<trace::IterationRow>().value_or(std::span<const trace::IterationRow>());
  for (const auto& row : rows) {
    if (row.rank != rank || loaded.names().text(row.phase) != "step") continue;
    if (!all) all = Part{row.start_ns, row.start_ns};
    all->start_ns = std::min(all->start_ns, row.start_ns);
    all->end_ns = std::max(all->end_ns, row.start_ns + row.duration_ns);
  }
  return all;
}

// One thread of the rank: what it launched, and what it did before and after the device's work.
struct Thread {
  Thread(const analytics::gaps::CauseBook& book, const trace::NameTable& names) : before(book, names), after(book, names) {}
  std::int64_t launch_count = 0;
  std::optional<analytics::gaps::NextLaunch> first;  // of the calls within the steps that give the device work
  HostProfile before, after;
};

// What a call of a GPU runtime does by its name.
struct CallKind {
  bool launches = false, enqueues = false;  // a kernel; a kernel, copy or fill
};
CallKind kind_of(std::string_view domain, std::string_view name) {
  if (!trace::is_gpu_runtime(domain)) return {};
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  return {has("aunch"), has("aunch") || has("emcpy") || has("emset")};
}

void take(HostProfile& profile, const Part& part, trace::ApiCallRow row) {
  row.start_ns = std::max(row.start_ns, part.start_ns);
  row.end_ns = std::min(row.end_ns, part.end_ns);
  if (row.end_ns > row.start_ns) profile.add(row);
}

// `frame`: the event that the cause was read from; empty: none.
void add(std::vector<Json>& list, const analytics::gaps::NamedCause& cause, std::int64_t time_ns, std::string_view frame = {}) {
  for (Json& one : list)
    if (one["cause"].text() == cause.id) {
      one.set("idle_ns", one["idle_ns"].as_i64().value_or(0) + time_ns);
      return;
    }
  list.push_back(Json::object({{"cause", cause.id},
                               {"class", cause.class_id},
                               {"title", frame.empty() ? cause.title : cause.title + " in " + std::string(frame)},
                               {"remedy", cause.remedy},
                               {"gap_count", 0},
                               {"idle_ns", time_ns},
                               {"outside", true}}));
}

// The time from the steps' start to the device's first work is a gap like any other: code that no pattern knows is named by its
// frame there, as it is in the steps that follow.
void add_first_gap(const analytics::gaps::CauseBook& book, const trace::NameTable& names, const analytics::gaps::Explained& gap,
                   std::vector<Json>& list) {
  const auto& own = book.own();
  for (const auto& share : gap.host) {
    const auto& cause = book.at(share.cause);
    const bool by_frame = share.cause == gap.host_cause && (share.cause == own.host_code || share.cause == own.host_operator);
    if (!cause.weak) add(list, cause, share.time_ns, by_frame ? names.text(gap.host_frame) : std::string_view());
  }
}

// Of all threads: backward passes have one of their own, with more launches and none before the device's first work.
std::optional<analytics::gaps::NextLaunch> first_launch(const std::map<std::int64_t, Thread>& threads) {
  std::optional<analytics::gaps::NextLaunch> first;
  for (const auto& [id, thread] : threads)
    if (thread.first && (!first || thread.first->start_ns < first->start_ns)) first = thread.first;
  return first;
}

void add_shares(const analytics::gaps::CauseBook& book, const analytics::gaps::HostWork& work, std::vector<Json>& list) {
  for (const auto& share : work.shares)
    if (const auto& cause = book.at(share.cause); !cause.weak) add(list, cause, share.time_ns);
}

}  // namespace

core::Result<std::vector<Json>> host_outside(LoadedSession& loaded, const DeviceWindow& device, const core::Paths& paths) {
  std::vector<Json> list;
  const auto steps = steps_of(loaded, device.rank);
  if (!steps) return list;
  const std::array<Part, 2> parts = {Part{steps->start_ns, device.first_ns}, Part{device.last_ns, steps->end_ns}};
  if (static_cast<double>(parts[0].length() + parts[1].length()) < kSmallPart * static_cast<double>(steps->length())) return list;
  AACO_ASSIGN(const auto book, analytics::gaps::CauseBook::load(core::join_path(paths.share, "data/gaps/causes.yaml")));
  trace::NameTable names;
  std::map<std::int64_t, Thread> threads;
  std::map<std::uint32_t, CallKind> kinds;  // by name
  analytics::gaps::GapExplainer explainer(names, &book);
  explainer.still_idle({{device.rank, parts[0].start_ns}});
  AACO_TRY(tracelake::scan_where<trace::ApiCallRow>(
      loaded.path(), names, {}, {{"arguments", "NULL"}}, [&](std::span<const trace::ApiCallRow> rows) -> core::Status {
        for (const auto& row : rows) {
          if (row.rank != device.rank) continue;
          const auto [known, fresh] = kinds.try_emplace(row.name.value);
          if (fresh) known->second = kind_of(names.text(row.domain), names.text(row.name));
          auto& thread = threads.try_emplace(row.thread_id, book, names).first->second;
          if (known->second.launches) ++thread.launch_count;
          const bool early = row.start_ns < parts[0].end_ns;
          if (early) explainer.add_call(row);
          if (early && known->second.enqueues && !thread.first && row.start_ns >= parts[0].start_ns)
            thread.first = analytics::gaps::NextLaunch{row.start_ns, row.end_ns, row.thread_id, row.name};
          take(thread.before, parts[0], row);
          take(thread.after, parts[1], row);
        }
        return {};
      }));
  const auto most = std::max_element(threads.begin(), threads.end(),
                                     [](const auto& a, const auto& b) { return a.second.launch_count < b.second.launch_count; });
  if (most == threads.end() || most->second.launch_count == 0) return list;
  if (const auto first = first_launch(threads))
    add_first_gap(book, names, explainer.explain({device.rank, 0, parts[0].start_ns, parts[0].end_ns, {}, {}, first}), list);
  else
    add_shares(book, most->second.before.finish(), list);
  add_shares(book, most->second.after.finish(), list);
  return list;
}

Json with_causes(const Json& causes, const std::vector<Json>& more) {
  std::vector<Json> all(causes.items().begin(), causes.items().end());
  for (const Json& one : more) {
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const Json& known) { return known["cause"].text() == one["cause"].text(); });
    if (same == all.end())
      all.push_back(one);
    else
      same->set("idle_ns", (*same)["idle_ns"].as_f64().value_or(0) + one["idle_ns"].as_f64().value_or(0)).set("outside", true);
  }
  const auto idle = [](const Json& one) { return one["idle_ns"].as_f64().value_or(0); };
  std::stable_sort(all.begin(), all.end(), [&](const Json& a, const Json& b) { return idle(a) > idle(b); });
  Json list = Json::array();
  for (Json& one : all) list.push(std::move(one));
  return list;
}

}  // namespace aaco::workflows
