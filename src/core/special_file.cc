#include "core/special_file.h"

#include <sys/stat.h>

namespace aaco::core {

bool is_written_in_place(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return false;
  return S_ISCHR(info.st_mode) || S_ISFIFO(info.st_mode) || (S_ISLNK(info.st_mode) && path.starts_with("/dev/"));
}

}  // namespace aaco::core
