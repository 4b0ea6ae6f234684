#include <map>

#include "core/strings.h"
#include "importers/database/sampled_metric.h"
#include "importers/rocpd/reader.h"
#include "importers/stream/tokens.h"

// Instants on tracks, and values of counters: of dispatches, and of samples over time.
namespace aaco::importers::rocpd {

std::string Reader::quoted(const std::string& name) { return '"' + core::replace_all(name, "\"", "\"\"") + '"'; }

bool Reader::has_sampled_counters() const {
  for (const auto& [table, name] :
       {std::pair("rocpd_pmc_event", "event_id"), std::pair("rocpd_pmc_event", "pmc_id"), std::pair("rocpd_pmc_event", "value"),
        std::pair("rocpd_sample", "event_id"), std::pair("rocpd_sample", "timestamp")})
    if (!scan_.database().has(group_.table(table), name)) return false;
  return true;
}

// Marks; a sample that has values of counters is the time of those.
core::Status Reader::read_samples() {
  const auto& database = scan_.database();
  if (!database.has(group_.table("rocpd_sample"), "track_id") || !database.has(group_.table("rocpd_track"), "id")) return {};
  const bool events = database.has(group_.table("rocpd_event"), "id") && database.has(group_.table("rocpd_sample"), "event_id");
  const bool values = has_sampled_counters();
  std::string sql = "SELECT " + column("rocpd_track", "k", "pid") + ',' + column("rocpd_track", "k", "tid") + ",NULL,NULL," +
                    column("rocpd_sample", "s", "timestamp") + ',' + column("rocpd_track", "k", "name_id") + ',' +
                    (events ? column("rocpd_event", "e", "category_id") : "NULL") + ',' +
                    column("rocpd_sample", "s", "event_id") + (values ? ",v.event" : ",NULL") + " FROM main." +
                    quoted(group_.table("rocpd_sample")) + " s LEFT JOIN main." + quoted(group_.table("rocpd_track")) +
                    " k ON k.id=s.track_id";
  if (events) sql += " LEFT JOIN main." + quoted(group_.table("rocpd_event")) + " e ON e.id=s.event_id";
  if (values)
    sql += " LEFT JOIN (SELECT DISTINCT event_id AS event FROM main." + quoted(group_.table("rocpd_pmc_event")) +
           ") v ON v.event=s.event_id";
  return scan_.rows(database.query(sql), [&](const Rows& row) {
    const auto span = scan_.span(row, kOwn, kOwn);
    if (!span) return;
    if (row.integer(kOwn + 4)) return scan_.account().keep();
    trace::ApiCallRow call;
    call.start_ns = call.end_ns = span->start_ns;
    call.domain = domain(row.integer(kOwn + 2));
    call.name = strings_.name(row.integer(kOwn + 1), sink_);
    call.arguments = event_arguments_.of(row.integer(kOwn + 3));
    add_call(row, call);
  });
}

// Values of one counter and dispatch are added up over the counter's instances, as the database's own view does.
core::Status Reader::read_counters() {
  const auto& database = scan_.database();
  for (const auto& [table, name] :
       {std::pair("rocpd_pmc_event", "event_id"), std::pair("rocpd_pmc_event", "pmc_id"), std::pair("rocpd_pmc_event", "value"),
        std::pair("rocpd_info_pmc", "id"), std::pair("rocpd_info_pmc", "name"), std::pair("rocpd_kernel_dispatch", "event_id"),
        std::pair("rocpd_kernel_dispatch", "id")})
    if (!database.has(group_.table(table), name)) return {};
  const auto kernel = [&](const char* name) { return column("rocpd_kernel_dispatch", "k", name); };
  const bool samples = has_sampled_counters();
  std::string sql =
      "SELECT " + kernel("pid") + ',' + kernel("agent_id") + ',' + kernel("dispatch_id") + ',' + kernel("kernel_id") +
      ",min(p.pmc_id),sum(p.value),count(*),count(k.id)," + (samples ? "count(s.event)" : "0") + " FROM main." +
      quoted(group_.table("rocpd_pmc_event")) + " p LEFT JOIN main." + quoted(group_.table("rocpd_kernel_dispatch")) +
      " k ON k.event_id=p.event_id LEFT JOIN main." + quoted(group_.table("rocpd_info_pmc")) + " i ON i.id=p.pmc_id";
  if (samples)
    sql += " LEFT JOIN (SELECT DISTINCT event_id AS event FROM main." + quoted(group_.table("rocpd_sample")) +
           ") s ON s.event=p.event_id";
  sql += " GROUP BY k.id, i.name";
  return scan_.rows(database.query(sql), [&](const Rows& row) {
    const std::int64_t values = row.integer(6).value_or(0);
    const auto value = row.real(5);
    if (row.integer(7).value_or(0) == 0) {
      const std::int64_t sampled = row.integer(8).value_or(0);  // read_sampled_counters() tells of these
      if (values > sampled) scan_.account().drop("counter without a dispatch", values - sampled);
      return;
    }
    if (!value) return scan_.account().drop("counter without a numeric value", values);
    scan_.account().keep(values);
    trace::KernelCounterRow counter;
    counter.rank = ranks_.rank(group_.key(row.integer(0).value_or(0)));
    counter.device = device(row.integer(1));
    counter.dispatch_id = row.id(2).value_or(0);
    counter.kernel_name = symbol(row.integer(3).value_or(0)).name;
    counter.counter = counters_.name(row.integer(4), sink_);
    counter.value = *value;
    sink_.add(counter);
  });
}

// Of GPUs, and of the host. A dispatch has its counters in read_counters().
core::Status Reader::read_sampled_counters() {
  if (!has_sampled_counters()) return {};
  struct Counter {
    trace::NameId metric;
    double factor = 1;
    std::optional<std::int64_t> gpu;
  };
  constexpr std::size_t kMaxCounters = 100'000;
  std::map<std::int64_t, Counter> counters;
  AACO_TRY(scan_.table(group_.table("rocpd_info_pmc"), {"id", "name", "units", "agent_id"}, [&](const Rows& row) {
    if (!row.integer(0) || counters.size() >= kMaxCounters) return;
    const auto on = gpu(row.integer(3));
    const SampledMetric metric = sampled_metric(on ? "gpu." : "host.", clean_utf8(row.text(1).substr(0, 256)), row.text(2));
    counters.try_emplace(*row.integer(0), Counter{sink_.name(metric.name), metric.factor, on});
  }));
  const trace::NameId source = sink_.name("rocpd.pmc");
  const auto& database = scan_.database();
  const bool tracks = database.has(group_.table("rocpd_sample"), "track_id") && database.has(group_.table("rocpd_track"), "id");
  const bool dispatches = database.has(group_.table("rocpd_kernel_dispatch"), "event_id");
  std::string sql = std::string("SELECT ") + (tracks ? column("rocpd_track", "k", "pid") : "NULL") + ',' +
                    (tracks ? column("rocpd_track", "k", "name_id") : "NULL") + ",s.timestamp,p.pmc_id,p.value FROM main." +
                    quoted(group_.table("rocpd_pmc_event")) + " p JOIN main." + quoted(group_.table("rocpd_sample")) +
                    " s ON s.event_id=p.event_id";
  if (tracks) sql += " LEFT JOIN main." + quoted(group_.table("rocpd_track")) + " k ON k.id=s.track_id";
  if (dispatches)
    sql += " WHERE p.event_id NOT IN (SELECT event_id FROM main." + quoted(group_.table("rocpd_kernel_dispatch")) +
           " WHERE event_id IS NOT NULL)";
  return scan_.rows(database.query(sql), [&](const Rows& row) {
    const auto time = row.integer(2);
    if (!time || *time <= 0) return scan_.account().drop(kRowWithoutTimes);
    const auto value = row.real(4);
    const auto counter = counters.find(row.integer(3).value_or(-1));
    if (!value || counter == counters.end()) return scan_.account().drop("counter without a value or name");
    scan_.account().keep();
    const std::int32_t rank = ranks_.rank(group_.key(row.integer(0).value_or(0)));
    const double scaled = *value * counter->second.factor;
    if (counter->second.gpu)
      sink_.add(trace::GpuEventRow{rank, *time, *counter->second.gpu, counter->second.metric, source, scaled});
    else
      sink_.add(trace::SystemEventRow{rank, *time, counter->second.metric, strings_.name(row.integer(1), sink_), scaled});
  });
}

}  // namespace aaco::importers::rocpd
