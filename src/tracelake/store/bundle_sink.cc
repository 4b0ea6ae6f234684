#include "tracelake/store/bundle_sink.h"

#include "core/files.h"
#include "tracelake/store/paths.h"

namespace aaco::tracelake::store {
namespace {

std::string in_spill_folder(const std::string& folder, std::string_view name) {
  return core::join_path(core::join_path(folder, kSpillFolder), name);
}

}  // namespace

BundleSink::BundleSink(const std::string& folder)
    : names_(in_spill_folder(folder, "names")),
      database_(core::join_path(folder, kSpillFolder)),
      context_{database_, names_, folder},
      tables_(context_) {}

trace::NameId BundleSink::name(std::string_view text) {
  auto id = names_.intern(text);
  if (id) return *id;
  if (status_) status_ = tl::unexpected<core::Error>(std::move(id).error());
  return {};
}

core::Status BundleSink::write_tables() {
  std::apply([this](auto&... table) { ((status_ = status_ ? table.write() : std::move(status_)), ...); }, tables_.all);
  return status_;
}

}  // namespace aaco::tracelake::store
