#include "importers/builtin.h"

#include "core/files.h"
#include "importers/any_database.h"
#include "importers/jax_trace.h"
#include "importers/kineto.h"
#include "importers/migraphx.h"
#include "importers/nsys.h"
#include "importers/nsys_stats.h"
#include "importers/ort_profile.h"
#include "importers/pftrace.h"
#include "importers/rocpd.h"
#include "importers/rocprof.h"
#include "importers/rocprof_compute.h"
#include "importers/rocprof_db.h"
#include "importers/rocprofv3.h"
#include "importers/rpd.h"
#include "importers/smi.h"
#include "importers/stream/damage.h"
#include "importers/xplane.h"

namespace aaco::importers {

std::vector<std::unique_ptr<Importer>> builtin_importers() {
  std::vector<std::unique_ptr<Importer>> importers;
  ort::Options runs;
  runs.phase = "step";
  importers.push_back(ort::make_importer(runs));
  importers.push_back(rocprof_compute::make_importer());  // a narrower form of rocprofv2's tables
  importers.push_back(rocprof::make_csv_importer());
  importers.push_back(rocprof::make_json_importer());  // a narrower form of Chrome traces
  importers.push_back(rocprofv3::make_csv_importer());
  importers.push_back(nsys_stats::make_importer());
  importers.push_back(smi::make_importer());
  importers.push_back(rpd::make_importer());
  importers.push_back(rocprofv3::make_json_importer());
  importers.push_back(rocpd::make_importer());
  importers.push_back(nsys::make_importer());
  importers.push_back(rocprof_db::make_importer());
  importers.push_back(any_database::make_importer());  // last of the databases
  importers.push_back(migraphx::make_importer());
  importers.push_back(xplane::make_importer());
  importers.push_back(pftrace::make_importer());
  importers.push_back(jax_trace::make_importer());  // a narrower form of Chrome traces
  importers.push_back(kineto::make_importer());     // takes any Chrome trace: last of the JSON formats
  return importers;
}

const Importer* find_importer(const std::vector<std::unique_ptr<Importer>>& importers, std::string_view head,
                              std::string_view file_name) {
  for (const auto& importer : importers)
    if (importer->sniff(head, file_name)) return importer.get();
  return nullptr;
}

core::Result<ImportResult> import_source(const Importer& importer, trace::ByteSource& source, trace::Sink& sink) {
  auto imported = importer.import(source, sink);
  if (const std::string damage = source.damage(); !imported && !damage.empty()) {
    imported.error().message += " (the file is damaged: " + damage + ")";
    imported.error().remedy = "copy the file again from its source";
  }
  AACO_ASSIGN(ImportResult result, std::move(imported));
  report_losses(result, core::base_name(source.name()));
  if (const std::string damage = source.damage(); !damage.empty()) {
    result.account.notes.push_back(damage);
    if (result.account.state == trace::Account::State::ok) {
      result.account.state = trace::Account::State::partial;
      result.account.reason = damage;
    }
    result.warnings.push_back({"import.damaged", source.name() + " is damaged (" + damage + "): data up to the damage is kept",
                               "copy the file again from its source"});
  }
  return result;
}

}  // namespace aaco::importers
