#include "tracelake/store/bundle_sink.h"

#include "core/files.h"

namespace aaco::tracelake::store {

BundleSink::BundleSink(std::string folder)
    : folder_(std::move(folder)),
      database_(names_, core::join_path(folder_, ".spill")),
      tables_(database_, database_, database_, database_, database_, database_, database_, database_, database_, database_,
              database_, database_) {}

core::Status BundleSink::write_tables() {
  AACO_TRY(status_);
  std::apply([this](auto&... table) { ((status_ = status_ ? table.write(folder_) : std::move(status_)), ...); }, tables_);
  return status_;
}

}  // namespace aaco::tracelake::store
