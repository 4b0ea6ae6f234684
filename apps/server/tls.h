#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "core/result.h"

namespace aaco::server {

// TLS 1.2 and newer with this certificate chain and its private key, both PEM files. Fails with invalid_input for files that are
// damaged or do not belong together, and with permission for a key that everybody can read.
core::Result<std::unique_ptr<boost::asio::ssl::context>> open_tls(const std::string& certificate_file,
                                                                  const std::string& key_file);

}  // namespace aaco::server
