#pragma once

#include <cstdint>
#include <string>

#include "core/environment.h"
#include "core/result.h"

namespace aaco::server {

inline constexpr std::size_t kMinTokenLength = 32;

// The file that tells scripts of the same user the token; one that the server made is removed with this.
class TokenFile {
 public:
  // `named` empty: a new token in $XDG_RUNTIME_DIR/aaco/server-PORT.token or, without that variable, in the registry. Otherwise
  // the token in that file, which is made where it is missing. Refuses a file that others can read and a short token.
  static core::Result<TokenFile> open(const std::string& named, std::uint16_t port, const core::Environment& environment,
                                      const core::Paths& paths);
  TokenFile(TokenFile&& other) noexcept;
  TokenFile& operator=(TokenFile&&) = delete;
  ~TokenFile();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& token() const { return token_; }

 private:
  TokenFile(std::string path, std::string token, bool temporary)
      : path_(std::move(path)), token_(std::move(token)), temporary_(temporary) {}
  std::string path_, token_;
  bool temporary_;
};

}  // namespace aaco::server
