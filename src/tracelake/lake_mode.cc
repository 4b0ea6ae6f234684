#include "tracelake/lake_mode.h"

#include "tracelake/store/access.h"

namespace aaco::tracelake {

core::Status set_lake_mode(const std::string& root, LakeMode mode) { return store::set_shared(root, mode == LakeMode::group); }

}  // namespace aaco::tracelake
