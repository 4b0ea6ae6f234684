#include "tracelake/store/name_cells.h"

#include <algorithm>

#include "tracelake/duckdb/database.h"

namespace aaco::tracelake::store {
namespace {

constexpr std::size_t kSlots = 4096;  // a power of two, above any number of different ids that are worth a dictionary

void assign(duckdb_vector column, std::size_t row, std::string_view text) {
  duckdb_vector_assign_string_element_len(column, row, text.data(), text.size());
}

}  // namespace

NameCells::NameCells() : slots_(kSlots) {}

bool NameCells::number(const std::vector<std::uint32_t>& ids) {
  ++chunk_;
  different_.clear();
  numbers_.resize(ids.size());
  const std::size_t limit = std::min(ids.size() / 2, kSlots / 2);
  for (std::size_t row = 0; row < ids.size(); ++row) {
    std::size_t slot = ids[row] * 0x9E3779B1U >> 20;
    while (slots_[slot].chunk == chunk_ && slots_[slot].id != ids[row]) slot = (slot + 1) % kSlots;
    if (slots_[slot].chunk != chunk_) {
      if (different_.size() == limit) return false;
      slots_[slot] = {ids[row], chunk_, static_cast<std::uint32_t>(different_.size())};
      different_.push_back(ids[row]);
    }
    numbers_[row] = slots_[slot].number;
  }
  return true;
}

void NameCells::write(const NameStore& names, const std::vector<std::uint32_t>& ids, duckdb_vector column) {
  if (!number(ids)) {
    for (std::size_t row = 0; row < ids.size(); ++row) assign(column, row, names.text({ids[row]}));
    return;
  }
  duckdb_vector dictionary = duckdb_create_vector(duckdb::LogicalType(DUCKDB_TYPE_VARCHAR).get(), different_.size());
  for (std::size_t i = 0; i < different_.size(); ++i) assign(dictionary, i, names.text({different_[i]}));
  duckdb_selection_vector selection = duckdb_create_selection_vector(ids.size());
  std::copy(numbers_.begin(), numbers_.end(), duckdb_selection_vector_get_data_ptr(selection));
  duckdb_vector_reference_vector(column, dictionary);
  duckdb_slice_vector(column, selection, ids.size());
  duckdb_destroy_selection_vector(selection);
  duckdb_destroy_vector(&dictionary);
}

}  // namespace aaco::tracelake::store
