#include "serving/client/tls_session.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <array>
#include <boost/asio/ssl/error.hpp>
#include <climits>

#include "core/check.h"

namespace aaco::serving {
namespace {

// The oldest error of the library's queue, and why a certificate was refused.
std::string failure_of(const SSL* ssl) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const boost::system::error_code error(static_cast<int>(code), boost::asio::error::get_ssl_category());
  std::string text = code == 0 ? "the handshake failed" : error.message();
  const long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) text += std::string(": ") + X509_verify_cert_error_string(verified);
  return text;
}

}  // namespace

TlsSession::TlsSession(SSL_CTX* context, const std::string& host) : ssl_(SSL_new(context)) {
  AACO_CHECK(ssl_ != nullptr);
  SSL* const ssl = ssl_.get();
  from_server_ = BIO_new(BIO_s_mem());
  to_server_ = BIO_new(BIO_s_mem());
  SSL_set_bio(ssl, from_server_, to_server_);
  SSL_set_connect_state(ssl);
  SSL_set_mode(ssl, SSL_MODE_RELEASE_BUFFERS);  // thousands of idle streams
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1) return;
  SSL_set1_host(ssl, host.c_str());
  // SSL_set_tlsext_host_name() without its macro's cast: the name of the server, for one that serves several.
  SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, const_cast<char*>(host.c_str()));
}

TlsSession::State TlsSession::start() {
  std::string none;
  return advance(none);
}

TlsSession::State TlsSession::take(std::string_view cipher, std::string& plain) {
  BIO_write(from_server_, cipher.data(), static_cast<int>(cipher.size()));
  return advance(plain);
}

TlsSession::State TlsSession::advance(std::string& plain) {
  ERR_clear_error();
  SSL* const ssl = ssl_.get();
  if (SSL_is_init_finished(ssl) == 0) {
    if (const int result = SSL_do_handshake(ssl); result != 1) return judge(result);
  }
  std::array<char, 16384> bytes;  // a record holds no more
  for (;;) {
    const int size = SSL_read(ssl, bytes.data(), static_cast<int>(bytes.size()));
    if (size <= 0) return judge(size);
    plain.append(bytes.data(), static_cast<std::size_t>(size));
  }
}

TlsSession::State TlsSession::judge(int result) {
  SSL* const ssl = ssl_.get();
  switch (SSL_get_error(ssl, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE: return SSL_is_init_finished(ssl) == 0 ? State::handshake : State::open;
    case SSL_ERROR_ZERO_RETURN: return State::ended;
    default: failure_ = failure_of(ssl); return State::failed;
  }
}

void TlsSession::write(std::string_view plain) {
  while (!plain.empty()) {
    const auto part = plain.substr(0, INT_MAX);
    if (SSL_write(ssl_.get(), part.data(), static_cast<int>(part.size())) <= 0)
      return;  // the connection is over: reading says so
    plain.remove_prefix(part.size());
  }
}

std::string TlsSession::take_output() {
  std::string bytes(BIO_ctrl_pending(to_server_), '\0');
  if (!bytes.empty()) BIO_read(to_server_, bytes.data(), static_cast<int>(bytes.size()));
  return bytes;
}

bool TlsSession::has_part_of_record() const { return BIO_ctrl_pending(from_server_) > 0 || SSL_has_pending(ssl_.get()) == 1; }

}  // namespace aaco::serving
