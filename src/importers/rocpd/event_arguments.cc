#include "importers/rocpd/event_arguments.h"

#include <algorithm>

#include "importers/stream/tokens.h"

namespace aaco::importers::rocpd {

core::Status EventArguments::read(TableScan& scan, const std::string& table) {
  std::optional<std::int64_t> event;
  AACO_TRY(scan.table(table, {"event_id", "position", "name", "value"}, [&](const formats::sqlite::Rows& row) {
    const auto own = row.integer(0);
    if (!own) {
      ++without_event_;
      return;
    }
    if (event && *event != *own) close(*event);
    event = own;
    ++open_rows_;
    std::string name = clean_utf8(row.text(2).substr(0, 256));
    if (name.empty()) name = "argument " + std::to_string(row.integer(1).value_or(open_rows_));
    std::string value = clean_utf8(row.text(3).substr(0, 1024));
    open_length_ += name.size() + value.size();
    if (open_length_ <= kMaxLength) open_.set(name, std::move(value));
  }));
  if (event) close(*event);
  return {};
}

void EventArguments::close(std::int64_t event) {
  const auto known = entries_.find(event);
  if (known != entries_.end()) {
    apart_ += open_rows_;
  } else if (entries_.size() >= kMaxEvents) {
    beyond_ += open_rows_;
  } else {
    entries_[event] = {texts_.name(open_.dump(-1)), static_cast<std::int32_t>(std::min<std::int64_t>(open_rows_, INT32_MAX)),
                       false};
  }
  open_ = core::Json::object();
  open_rows_ = 0;
  open_length_ = 0;
}

trace::NameId EventArguments::of(std::optional<std::int64_t> event) {
  if (!event) return {};
  const auto known = entries_.find(*event);
  if (known == entries_.end()) return {};
  known->second.asked = true;
  return known->second.text;
}

void EventArguments::finish(trace::Account& account) const {
  std::int64_t kept = 0, beyond = beyond_, foreign = 0;
  for (const auto& [event, entry] : entries_) {
    if (!entry.asked)
      foreign += entry.rows;
    else
      (entry.text == trace::NameId() ? beyond : kept) += entry.rows;
  }
  account.keep(kept);
  if (beyond > 0) account.drop("call argument beyond the limit", beyond);
  if (foreign > 0) account.drop("argument of an event that is not a call", foreign);
  if (apart_ > 0) account.drop("argument not adjacent to the others of its event", apart_);
  if (without_event_ > 0) account.drop("argument without an event", without_event_);
}

}  // namespace aaco::importers::rocpd
