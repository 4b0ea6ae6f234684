#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace aaco::serving {

// TLS of one connection, without its socket: ciphertext goes in and comes out as bytes. The socket is read, stamped and waited
// for like one without TLS, and what is waited for is known.
class TlsSession {
 public:
  enum class State : std::uint8_t {
    handshake,  // it needs more of the server
    open,
    ended,  // the server said that nothing more comes
    failed
  };
  // Trusts what the context trusts; the certificate must be that of `host`, a name or an address.
  TlsSession(SSL_CTX* context, const std::string& host);
  // Begins the handshake: take_output() has its first bytes.
  State start();
  // Takes bytes of the socket and appends what they were to `plain`.
  State take(std::string_view cipher, std::string& plain);
  // Only while open.
  void write(std::string_view plain);
  // What is to be sent now.
  std::string take_output();
  // The beginning of a record has come, and not its end: nothing of it can be read yet.
  [[nodiscard]] bool has_part_of_record() const;
  [[nodiscard]] const std::string& failure() const { return failure_; }

 private:
  struct Free {
    void operator()(SSL* ssl) const { SSL_free(ssl); }
  };
  State advance(std::string& plain);
  State judge(int result);

  std::unique_ptr<SSL, Free> ssl_;
  BIO *from_server_ = nullptr, *to_server_ = nullptr;  // owned by ssl_
  std::string failure_;
};

}  // namespace aaco::serving
