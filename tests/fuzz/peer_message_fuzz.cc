// Takes any bytes as a message between workers; one that is read is written the
// same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "exec/comm/message.h"
#include "target.h"

GT_FUZZ_TARGET(peer_message) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto message = gt::exec::comm::parse_peer_message(bytes);
  if (!message.ok()) return 0;
  const std::string text = gt::exec::comm::to_text(message.value());
  const auto again = gt::exec::comm::parse_peer_message(text);
  if (!again.ok() || gt::exec::comm::to_text(again.value()) != text)
    std::abort();
  return 0;
}
