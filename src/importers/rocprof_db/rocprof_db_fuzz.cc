#include "importers/database/fuzz_database.h"
#include "importers/rocprof_db.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  aaco::importers::fuzz_database(*aaco::importers::rocprof_db::make_importer(), data, size);
  return 0;
}
