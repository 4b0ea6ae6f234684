#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "trace/sink.h"
#include "tracelake/store/table_writer.h"

namespace aaco::tracelake::store {

template <class List>
struct TablesOf;
template <class... Rows>
struct TablesOf<trace::RowList<Rows...>> {
  explicit TablesOf(TableContext& context) : all((static_cast<void>(sizeof(Rows)), context)...) {}
  std::tuple<TableWriter<Rows>...> all;
};

// The Sink of an open bundle: one table a row type, written as Parquet files below the bundle's folder.
class BundleSink final : public trace::EveryRowTo<BundleSink> {
 public:
  explicit BundleSink(const std::string& folder);

  template <class Row>
  void take(const Row& row) {
    if (status_) [[likely]]
      if (auto added = std::get<TableWriter<Row>>(tables_.all).add(row); !added) [[unlikely]]
        status_ = std::move(added);
  }
  trace::NameId name(std::string_view text) override;
  [[nodiscard]] core::Status status() const override { return status_; }

  // Writes the file of every table that got rows since the last time.
  core::Status write_tables();

 private:
  NameStore names_;
  StoreDatabase database_;
  TableContext context_;
  TablesOf<trace::AllRows> tables_;
  core::Status status_;
};

}  // namespace aaco::tracelake::store
