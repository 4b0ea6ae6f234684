#include "server/tls.h"

#include <sys/stat.h>

#include <cerrno>

#include "core/files.h"

namespace aaco::server {
namespace {

namespace ssl = boost::asio::ssl;

constexpr mode_t kEverybody = 0007;

core::Status check_key_file(const std::string& file) {
  struct stat info {};
  if (::stat(file.c_str(), &info) != 0) return core::fail_errno(errno, file);
  if ((info.st_mode & kEverybody) != 0)
    return core::fail(core::ErrorCode::permission, file + " is accessible to everybody: it contains the private key",
                      "chmod 600 " + file);
  return {};
}

}  // namespace

core::Result<std::unique_ptr<ssl::context>> open_tls(const std::string& certificate_file, const std::string& key_file) {
  if (!core::exists(certificate_file)) return core::fail(core::ErrorCode::not_found, certificate_file + " does not exist");
  AACO_TRY(check_key_file(key_file));
  auto tls = std::make_unique<ssl::context>(ssl::context::tls_server);
  boost::system::error_code error;
  tls->set_options(ssl::context::default_workarounds | ssl::context::no_compression | ssl::context::no_sslv2 |
                       ssl::context::no_sslv3 | ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1,
                   error);
  tls->use_certificate_chain_file(certificate_file, error);
  if (error)
    return core::fail(core::ErrorCode::invalid_input,
                      certificate_file + " is not a certificate in PEM format: " + error.message());
  tls->use_private_key_file(key_file, ssl::context::pem, error);
  if (error)
    return core::fail(core::ErrorCode::invalid_input,
                      key_file + " is not the private key of " + certificate_file + " in PEM format: " + error.message());
  return tls;
}

}  // namespace aaco::server
