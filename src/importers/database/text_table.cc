#include "importers/database/text_table.h"

#include "importers/stream/tokens.h"

namespace aaco::importers {

void TextTable::open() {
  opened_ = true;
  const auto* table = database_.table(table_);
  if (table == nullptr) return;
  if (table->row_id == id_) {
    auto lookup = database_.by_row_id(table_, {text_});
    if (lookup) lookup_.emplace(std::move(*lookup));
    return;
  }
  auto rows = database_.select(table_, {id_, text_});
  while (rows && whole_.size() < kMaxRemembered) {
    const auto more = rows->next();
    if (!more || !*more) return;
    if (const auto id = rows->integer(0)) whole_.try_emplace(*id, rows->text(1));
  }
}

const std::string& TextTable::text(std::optional<std::int64_t> id) {
  if (!opened_) open();
  last_.clear();
  if (!id) return last_;
  if (lookup_) {
    if (lookup_->restart(*id))
      if (const auto found = lookup_->next(); found && *found) last_ = clean_utf8(lookup_->text(0));
  } else if (const auto known = whole_.find(*id); known != whole_.end()) {
    last_ = clean_utf8(known->second);
  }
  return last_;
}

trace::NameId TextTable::name(std::optional<std::int64_t> id, trace::Sink& sink) {
  if (!id) return {};
  if (const auto known = names_.find(*id); known != names_.end()) return known->second;
  const trace::NameId name = sink.name(text(id));
  if (names_.size() < kMaxRemembered) names_.emplace(*id, name);
  return name;
}

}  // namespace aaco::importers
