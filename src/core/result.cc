#include "core/result.h"

#include <cerrno>
#include <cstring>

namespace aaco::core {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return "invalid argument";
    case ErrorCode::invalid_input: return "invalid input";
    case ErrorCode::not_found: return "not found";
    case ErrorCode::permission: return "permission denied";
    case ErrorCode::io: return "I/O error";
    case ErrorCode::exhausted: return "exhausted";
    case ErrorCode::timed_out: return "timed out";
    case ErrorCode::cancelled: return "cancelled";
    case ErrorCode::conflict: return "conflict";
    case ErrorCode::unsupported: return "unsupported";
  }
  return "error";
}

std::string Error::text() const {
  std::string out;
  for (auto it = context.rbegin(); it != context.rend(); ++it) out += *it + ": ";
  out += message;
  if (!remedy.empty()) out += "\n  hint: " + remedy;
  return out;
}

namespace {

ErrorCode code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENODEV:
    case ENXIO: return ErrorCode::not_found;
    case EACCES:
    case EPERM:
    case EROFS: return ErrorCode::permission;
    case ENOSPC:
    case EDQUOT:
    case ENOMEM:
    case EMFILE:
    case ENFILE: return ErrorCode::exhausted;
    case EEXIST:
    case ENOTEMPTY:
    case EBUSY: return ErrorCode::conflict;
    case ETIMEDOUT: return ErrorCode::timed_out;
    case EINTR: return ErrorCode::cancelled;
    case ENOSYS:
    case EOPNOTSUPP: return ErrorCode::unsupported;
    default: return ErrorCode::io;
  }
}

}  // namespace

tl::unexpected<Error> fail_errno(int error_number, std::string_view what, std::string remedy) {
  if (remedy.empty() && (error_number == ENOSPC || error_number == EDQUOT))
    remedy = "free some disk space or choose another folder";
  return fail(code_of(error_number), std::string(what) + ": " + std::strerror(error_number), std::move(remedy));
}

}  // namespace aaco::core
