#include "server/reception.h"

#include <boost/beast/http/read.hpp>
#include <string_view>

#include "core/clock.h"
#include "server/connection.h"

namespace aaco::server {

namespace http = boost::beast::http;

Reception::Reception(Transport& transport, Hub& hub, boost::beast::flat_buffer& buffer, Parser&& parser,
                     std::unique_ptr<workflows::Upload> upload, Done done)
    : transport_(transport),
      hub_(hub),
      buffer_(buffer),
      parser_(std::move(parser)),
      upload_(std::move(upload)),
      done_(std::move(done)),
      chunk_(kUploadChunkBytes),
      started_ns_(core::monotonic_ns()) {
  hub_.count_upload(1);
}

Reception::~Reception() { hub_.count_upload(-1); }

void Reception::read() {
  parser_.get().body().data = chunk_.data();
  parser_.get().body().size = chunk_.size();
  parser_.get().body().more = true;
  transport_.tcp().expires_after(kBodyTime);
  asked_ns_ = core::monotonic_ns();
  http::async_read_some(transport_, buffer_, parser_,
                        [self = shared_from_this()](boost::beast::error_code error, std::size_t) { self->on_chunk(error); });
}

void Reception::on_chunk(boost::beast::error_code error) {
  if (error == http::error::need_buffer) error = {};  // the chunk is full
  if (error == boost::beast::error::timeout || is_gone(error)) return done_(std::nullopt);
  if (error) return done_(refusal_of(error));
  transport_.tcp().expires_never();
  const std::string_view bytes(chunk_.data(), chunk_.size() - parser_.get().body().size);
  const bool last = parser_.is_done();
  drips_ = !pace_.arrived(static_cast<std::int64_t>(bytes.size()), core::monotonic_ns() - asked_ns_);
  hub_.run_on_disk(
      [upload = upload_.get(), bytes, last]() -> core::Status {
        AACO_TRY(upload->write(bytes));
        return last ? upload->finish() : core::Status();
      },
      [self = shared_from_this()](const core::Status& stored) { self->on_stored(stored); });
}

void Reception::on_stored(const core::Status& stored) {
  if (!stored) return done_(refusal(stored.error()));
  if (!parser_.is_done()) {
    if (drips_) return done_(refusal(408, "the file arrived too slowly"));
    if (core::monotonic_ns() - started_ns_ > kMaxUploadTime_ns) return done_(refusal(408, "the file took too long to arrive"));
    return read();
  }
  Response response = json_response(
      core::Json::object({{"schema_version", 1}, {"id", upload_->id()}, {"name", upload_->name()}, {"bytes", upload_->bytes()}}));
  response.status = 201;
  done_(std::move(response));
}

}  // namespace aaco::server
