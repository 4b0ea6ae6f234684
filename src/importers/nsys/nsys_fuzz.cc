#include "importers/database/fuzz_database.h"
#include "importers/nsys.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  aaco::importers::fuzz_database(*aaco::importers::nsys::make_importer(), data, size);
  return 0;
}
