#include "server/server.h"

namespace aaco::server {

core::Result<std::unique_ptr<Server>> Server::open(const ServeRequest&, const workflows::Services&,
                                                   std::function<void(std::string_view)>) {
  return core::fail(core::ErrorCode::unsupported, "this build has no web server: Boost.Beast or OpenSSL was missing",
                    "run scripts/bootstrap.sh and build again; 'aaco report --html' writes a page without a server");
}

}  // namespace aaco::server
