#include "importers/database/fuzz_database.h"
#include "importers/rocpd.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  aaco::importers::fuzz_database(*aaco::importers::rocpd::make_importer(), data, size);
  return 0;
}
