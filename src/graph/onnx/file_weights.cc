#include "graph/file_weights.h"

#include <algorithm>
#include <cstring>
#include <memory>

namespace aaco::graph::onnx {
namespace {

using core::ErrorCode;

core::Error no_dense_bytes() {
  return {ErrorCode::unsupported, "the model has a constant that is not stored as raw bytes in a file", {}, {}};
}

}  // namespace

core::Status FileWeights::read(std::size_t index, std::int64_t offset, std::span<std::byte> out) {
  const auto& location = graph_.initializers[index].constant.location;
  if (!location || offset < 0 || offset + static_cast<std::int64_t>(out.size()) > location->bytes)
    return tl::unexpected(no_dense_bytes());
  auto known = files_.find(location->file);
  if (known == files_.end()) {
    AACO_ASSIGN(core::PositionalBytes file, core::PositionalBytes::open(location->file));
    known = files_.emplace(location->file, std::move(file)).first;
  }
  AACO_ASSIGN(const core::SharedBytes bytes,
              known->second.read(static_cast<std::uint64_t>(location->offset + offset), out.size()));
  std::copy_n(bytes.data(), bytes.size(), out.data());
  return {};
}

core::Result<core::SharedBytes> read_constant(const Constant& constant) {
  if (!constant.data.empty()) {
    const auto copy = std::make_shared<std::byte[]>(constant.data.size());  // NOLINT
    std::copy(constant.data.begin(), constant.data.end(), copy.get());
    return core::SharedBytes(copy, constant.data.size());
  }
  if (!constant.location) return tl::unexpected(no_dense_bytes());
  AACO_ASSIGN(const core::PositionalBytes file, core::PositionalBytes::open(constant.location->file));
  return file.read(static_cast<std::uint64_t>(constant.location->offset), static_cast<std::size_t>(constant.location->bytes));
}

}  // namespace aaco::graph::onnx
