#include "formats/protobuf.h"
#include "importers/stream/damage.h"
#include "importers/stream/event_import.h"
#include "importers/stream/messages.h"
#include "importers/xplane.h"
#include "importers/xplane/plane.h"

namespace aaco::importers::xplane {
namespace {

using formats::protobuf::Field;
using formats::protobuf::Wire;

constexpr std::uint32_t kPlanes = 1, kHostNames = 4;  // of XSpace

// The name of the plane that the head of a file begins with; the plane itself may be longer than the head.
std::string_view first_plane_name(std::string_view head) {
  if (!head.starts_with('\x0A')) return {};
  head.remove_prefix(1);
  const auto length = formats::protobuf::take_varint(head);
  if (!length) return {};
  formats::protobuf::Message plane(head.substr(0, *length));
  for (Field field; plane.next(field);) {
    if (field.number == 2 && field.wire == Wire::bytes) return field.bytes;
    if (field.number > 2) return {};  // a name comes before what it names
  }
  return {};
}

class XplaneImporter final : public Importer {
 public:
  [[nodiscard]] ImporterInfo info() const override {
    return xla::importer_info("xplane", "JAX or TensorFlow profile (XSpace protobuf, .xplane.pb)");
  }
  [[nodiscard]] bool sniff(std::string_view head, std::string_view) const override {
    return xla::is_plane(first_plane_name(head));
  }
  core::Result<ImportResult> import(trace::ByteSource& source, trace::Sink& sink) const override {
    ImportResult result = empty_result("xplane");
    xla::Rows rows(sink, result.account);
    std::int64_t planes = 0, events = 0;
    AACO_ASSIGN(const MessagesEnd end, read_messages(source, kMaxPlaneBytes, [&](const Field& field, bool) -> core::Status {
                  if (field.wire != Wire::bytes) return {};
                  if (field.number == kHostNames && result.host.empty()) result.host = std::string(field.bytes.substr(0, 256));
                  if (field.number != kPlanes) return {};
                  Plane plane(field.bytes);
                  ++planes;
                  plane.read(rows, result.account);
                  events += plane.events();
                  if (!plane.whole()) result.account.notes.push_back("plane " + std::to_string(planes) + " ends inside a field");
                  return sink.status();
                }));
    if (planes == 0 || (events == 0 && !end.complete))
      return core::fail(core::ErrorCode::invalid_input,
                        source.name() + ": no event could be read" + (end.trouble.empty() ? "" : " (" + end.trouble + ")"));
    rows.finish();
    if (end.oversized > 0)
      result.warnings.push_back({"import.plane_too_large",
                                 source.name() + ": " + std::to_string(end.oversized) + " planes above 1 GiB were skipped",
                                 "profile a shorter time"});
    if (!end.complete)
      report_cut(result, source.name(), end.trouble + after_bytes(end.bytes),
                 std::to_string(events) + " events before the truncation", "export the profile again, or copy the complete file");
    AACO_TRY(sink.status());
    return result;
  }
};

}  // namespace

std::unique_ptr<Importer> make_importer() { return std::make_unique<XplaneImporter>(); }

}  // namespace aaco::importers::xplane
