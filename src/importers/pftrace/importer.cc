#include "formats/protobuf.h"
#include "importers/pftrace.h"
#include "importers/pftrace/reader.h"
#include "importers/stream/damage.h"
#include "importers/stream/event_import.h"
#include "importers/stream/messages.h"

namespace aaco::importers::pftrace {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Message;
using formats::protobuf::Wire;

constexpr std::size_t kMaxPacketBytes = std::size_t{64} << 20;
constexpr std::uint32_t kPacket = 1;  // of Trace

// Whether a message is a packet: it has a member that tells it from other messages, in its wire type.
bool is_packet(std::string_view text) {
  bool known = false;
  Message message(text);
  for (Field field; message.next(field);) {
    if (field.wire == Wire::varint) known = known || field.number == 8 || field.number == 10 || field.number == 13;
    if (field.wire == Wire::bytes)
      known = known || field.number == 6 || field.number == 11 || field.number == 33 || field.number == 36 || field.number == 60;
  }
  return known && !message.damaged();
}

class PftraceImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return {"pftrace", "rocprofv3 or other Perfetto trace (protobuf, .pftrace)",    "rocprofv3", false, Grouping::rocm,
            false,     "profile with rocprofv3 --kernel-trace (or --runtime-trace)"};
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    constexpr int kLooked = 3;
    int packets = 0;
    Message trace(head);
    for (Field field; packets < kLooked && trace.next(field); ++packets)
      if (field.number != kPacket || field.wire != Wire::bytes || !is_packet(field.bytes)) return false;
    return packets > 0;
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result = empty_result("pftrace");
    Reader reader(sink, result.account);
    std::int64_t packets = 0;
    AACO_ASSIGN(const MessagesEnd end, read_messages(source, kMaxPacketBytes, [&](const Field& field, bool cut) -> core::Status {
                  if (field.number != kPacket || field.wire != Wire::bytes || cut) return {};
                  ++packets;
                  return reader.packet(field.bytes);
                }));
    if (packets == 0)
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no packet could be read" + (end.trouble.empty() ? "" : " (" + end.trouble + ")"));
    reader.finish();
    if (end.oversized > 0) result.account.drop("packets above 64 MiB", end.oversized);
    if (!end.complete)
      report_cut(result, source.name(), end.trouble + after_bytes(end.bytes),
                 std::to_string(reader.events()) + " events before the truncation", "copy the complete file, or profile again");
    AACO_TRY(sink.status());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<PftraceImporter>(); }

}  // namespace aaco::importers::pftrace
