#pragma once

#include <string>

#include "agent/sender.h"
#include "tracelake/engine.h"

namespace aaco::agent {

// ClickHouse as the receiver: the table fleet_minutes (docs/formats/clickhouse.md), created at the first contact where it is
// missing and this user may create it.
class EngineReceiver final : public Receiver {
 public:
  explicit EngineReceiver(tracelake::RemoteServer server);
  core::Status insert(std::string rows) override;
  core::Result<std::int64_t> now_s() override;

 private:
  core::Status prepare();
  tracelake::RemoteServer server_;
  std::string statement_;
  bool prepared_ = false;
};

}  // namespace aaco::agent
