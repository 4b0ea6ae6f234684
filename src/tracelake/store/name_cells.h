#pragma once

#include <duckdb.h>

#include <cstdint>
#include <vector>

#include "tracelake/store/name_store.h"

namespace aaco::tracelake::store {

// Writes the texts of names into a VARCHAR column: as a dictionary where they repeat within the chunk, else one by one.
class NameCells {
 public:
  NameCells();
  void write(const NameStore& names, const std::vector<std::uint32_t>& ids, duckdb_vector column);

 private:
  // Numbers the different ids of the chunk; true if there are few enough for a dictionary.
  bool number(const std::vector<std::uint32_t>& ids);

  struct Slot {
    std::uint32_t id = 0;
    std::uint32_t chunk = 0;  // the slot is free unless this is the present chunk
    std::uint32_t number = 0;
  };
  std::vector<Slot> slots_;
  std::uint32_t chunk_ = 0;
  std::vector<std::uint32_t> different_;  // ids by number
  std::vector<std::uint32_t> numbers_;    // by row
};

}  // namespace aaco::tracelake::store
