#include "tracelake/export.h"

#include <algorithm>

#include "core/files.h"
#include "trace/tables.h"
#include "tracelake/bundle.h"
#include "tracelake/duckdb/database.h"
#include "tracelake/perfetto/chrome_writer.h"
#include "tracelake/perfetto/perfetto_writer.h"
#include "tracelake/perfetto/session_timeline.h"

namespace aaco::tracelake {
namespace {

using core::join_path;

// What the other clocks showed at the first and the last instant at which the home clock was compared with any.
std::vector<perfetto::ClockReading> clock_readings(const trace::SessionManifest& manifest) {
  std::vector<std::int64_t> times;
  for (const trace::ClockPair& pair : manifest.clocks.pairs())
    for (const core::TimePoint& point : {pair.a, pair.b})
      if (point.clock == manifest.home_clock) times.push_back(point.ns);
  if (times.empty()) return {};
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  std::vector<perfetto::ClockReading> readings;
  for (const std::int64_t time : {*first, *last}) {
    const core::TimePoint home{manifest.home_clock, time};
    perfetto::ClockReading reading{home};
    for (const core::ClockId id :
         {core::ClockId::realtime, core::ClockId::boottime, core::ClockId::monotonic, core::ClockId::monotonic_raw})
      if (const auto point = manifest.clocks.convert(home, id); id != home.clock && point) reading.push_back(*point);
    readings.push_back(std::move(reading));
  }
  return readings;
}

}  // namespace

core::Result<trace::Account> export_timeline(const std::string& session_path, TimelineFormat format, const std::string& file) {
  AACO_ASSIGN(const trace::SessionManifest manifest, read_manifest(session_path));
  auto made = format == TimelineFormat::perfetto
                  ? perfetto::make_perfetto_writer(file, manifest.home_clock, clock_readings(manifest))
                  : perfetto::make_chrome_writer(file);
  AACO_ASSIGN(const auto writer, std::move(made));
  AACO_ASSIGN(trace::Account account, perfetto::write_session(session_path, manifest, *writer));
  AACO_TRY(writer->finish());
  return account;
}

core::Result<std::vector<std::string>> export_csv(const std::string& session_path, const std::string& folder) {
  AACO_ASSIGN([[maybe_unused]] const trace::SessionManifest manifest, read_manifest(session_path));
  AACO_TRY(core::make_directories(folder));
  AACO_ASSIGN(auto database, duckdb::Database::open({}));
  AACO_ASSIGN(auto connection, database.connect());
  std::vector<std::string> files;
  core::Status status;
  trace::for_each_table([&]<class Row>() {
    const std::string table = join_path(session_path, trace::TableOf<Row>::kPath);
    if (!status || !core::exists(table)) return;
    const std::string file = join_path(folder, std::string(trace::TableOf<Row>::kName) + ".csv");
    status = connection.run("COPY (SELECT * FROM read_parquet(" + duckdb::literal(table) + ")) TO " +
                            duckdb::literal(file + ".part") + " (FORMAT csv, HEADER)");
    if (status) status = core::rename_path(file + ".part", file);
    files.push_back(file);
  });
  AACO_TRY(status);
  return files;
}

}  // namespace aaco::tracelake
