#include "serving/response.h"

#include <fmt/format.h>

#include <array>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/version.hpp>
#include <limits>
#include <optional>
#include <utility>

#include "core/strings.h"
#include "formats/compression.h"

namespace aaco::serving {
namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::string_view;

std::string_view view(string_view text) { return {text.data(), text.size()}; }

// Hands the header's fields and the body's bytes on; Beast does the framing.
class Parser final : public http::basic_parser<false> {
 public:
  std::string content_type, content_encoding, retry_after, location;
  const std::function<core::Status(std::string_view)>* on_body = nullptr;
  std::unique_ptr<formats::Decompressor> decompressor;
  core::Status failure;
  int code = 0;

  Parser() {
    eager(true);
    header_limit(kMaxHeaderBytes);
    body_limit(std::numeric_limits<std::uint64_t>::max());
  }

 private:
  void take(string_view body, error_code& error) {
    if (failure) failure = decompressor ? inflate(view(body)) : (*on_body)(view(body));
    if (!failure) error = http::error::bad_chunk;  // stops the parser; `failure` has the reason
  }
  core::Status inflate(std::string_view bytes) {
    std::array<char, 16384> output;
    for (;;) {
      AACO_ASSIGN(const auto step, decompressor->step(std::span(bytes.data(), bytes.size()), output));
      if (step.produced > 0) AACO_TRY((*on_body)(std::string_view(output.data(), step.produced)));
      bytes.remove_prefix(step.consumed);
      if (step.produced == 0 && (step.consumed == 0 || bytes.empty())) return {};
    }
  }

  void on_request_impl(http::verb, string_view, string_view, int, error_code&) override {}
  void on_response_impl(int status, string_view, int, error_code&) override { code = status; }
  void on_field_impl(http::field name, string_view, string_view value, error_code&) override {
    if (name == http::field::content_type) content_type = core::to_lower(view(value));
    if (name == http::field::content_encoding) content_encoding = core::to_lower(view(value));
    if (name == http::field::retry_after) retry_after = view(value);
    if (name == http::field::location) location = view(value);
  }
  void on_header_impl(error_code& error) override {
    if (content_encoding.empty() || content_encoding == "identity") return;
    if (content_encoding == "gzip" || content_encoding == "x-gzip") {
      decompressor = formats::make_decompressor(formats::Compression::gzip);
      return;
    }
    failure = core::fail(core::ErrorCode::unsupported, fmt::format("unsupported content encoding '{}'", content_encoding));
    error = http::error::bad_value;
  }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
  std::size_t on_body_impl(string_view body, error_code& error) override {
    take(body, error);
    return body.size();
  }
  void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, string_view body, error_code& error) override {
    take(body, error);
    return body.size();
  }
#if BOOST_BEAST_VERSION >= 361  // Boost 1.92; 300 (Boost 1.74) hands trailers on as fields
  void on_trailer_field_impl(http::field, string_view, string_view, error_code&) override {}
#endif
  void on_finish_impl(error_code&) override {}
};

bool is_interim(int status) { return status >= 100 && status < 200 && status != 101; }

}  // namespace

struct ResponseReader::State {
  std::optional<Parser> parser{std::in_place};
  std::string rest;  // bytes that the parser did not take: part of a header line or of a chunk's header
  bool started = false;
};

ResponseReader::ResponseReader() : state_(std::make_unique<State>()) {}
ResponseReader::ResponseReader(ResponseReader&&) noexcept = default;
ResponseReader& ResponseReader::operator=(ResponseReader&&) noexcept = default;
ResponseReader::~ResponseReader() = default;

core::Status ResponseReader::feed(std::string_view bytes, const std::function<core::Status(std::string_view)>& on_body) {
  State& state = *state_;
  if (bytes.empty()) return {};
  state.started = true;
  state.parser->on_body = &on_body;
  if (!state.rest.empty()) bytes = state.rest += bytes;
  while (!bytes.empty() && !state.parser->is_done()) {
    error_code error;
    const std::size_t used = state.parser->put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
    if (!state.parser->failure) return state.parser->failure;
    bytes.remove_prefix(used);
    if (error == http::error::need_more) break;
    if (error) return core::fail(core::ErrorCode::invalid_input, fmt::format("the reply is not HTTP/1.1 ({})", error.message()));
    if (used == 0) break;
    // "100 Continue" and the like: the response is still to come.
    if (state.parser->is_done() && is_interim(state.parser->code)) {
      state.parser.emplace();
      state.parser->on_body = &on_body;
    }
  }
  if (bytes.size() > kMaxHeaderBytes)
    return core::fail(core::ErrorCode::invalid_input, "the reply is not HTTP/1.1 (header limit exceeded)");
  std::string rest(bytes);
  state.rest = std::move(rest);
  return {};
}

core::Status ResponseReader::close() {
  error_code error;
  if (state_->parser->is_done()) return {};
  if (state_->parser->got_some()) state_->parser->put_eof(error);
  if (error || !state_->parser->is_done())
    return core::fail(core::ErrorCode::invalid_input, "the connection was closed before the response was complete");
  return {};
}

bool ResponseReader::started() const { return state_->started; }
bool ResponseReader::have_header() const { return state_->parser->is_header_done(); }
bool ResponseReader::complete() const { return state_->parser->is_done(); }
bool ResponseReader::keep_alive() const {
  return state_->parser->is_done() && state_->parser->keep_alive() && state_->rest.empty();
}
int ResponseReader::status() const { return state_->parser->code; }
std::string_view ResponseReader::content_type() const { return state_->parser->content_type; }
std::string_view ResponseReader::location() const { return state_->parser->location; }
std::string_view ResponseReader::retry_after() const { return state_->parser->retry_after; }

}  // namespace aaco::serving
