#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "importers/database/gpu_work.h"
#include "importers/database/table_scan.h"

namespace aaco::importers::rocpd {

// The arguments that events have (rocpd_arg), one JSON object an event: {"stream":"0x7f..","size":"4096"}. They stand together
// and are read before the rows that want them.
class EventArguments {
 public:
  explicit EventArguments(BoundedTexts& texts) : texts_(texts) {}
  core::Status read(TableScan& scan, const std::string& table);
  // Of an event that is a call; empty where it has none, or none that is kept.
  trace::NameId of(std::optional<std::int64_t> event);
  // Counts what was read, when all calls have asked.
  void finish(trace::Account& account) const;

 private:
  struct Entry {
    trace::NameId text;
    std::int32_t rows = 0;
    bool asked = false;
  };
  void close(std::int64_t event);
  static constexpr std::size_t kMaxEvents = 1'000'000;
  static constexpr std::size_t kMaxLength = 4096;  // of the text of an event, in bytes

  BoundedTexts& texts_;
  std::unordered_map<std::int64_t, Entry> entries_;
  core::Json open_ = core::Json::object();  // of the event being read
  std::int64_t open_rows_ = 0;
  std::size_t open_length_ = 0;
  std::int64_t beyond_ = 0, apart_ = 0, without_event_ = 0;  // rows
};

}  // namespace aaco::importers::rocpd
