#include "serve/guest.h"

#include "base/message.h"
#include "net/keys.h"
#include "stream/line.h"

namespace gt::serve {
namespace {

constexpr size_t kMostGuestName = 64;  // bytes

Status check(const Guest& guest) {
  if (!net::is_user_name(guest.user)) {
    return Error{"'" + excerpt(guest.user) + "' is no name for a user"};
  }
  if (!guest.name.empty() && !is_guest_name(guest.name)) {
    return Error{"'" + excerpt(guest.name) + "' is no name for a client"};
  }
  if (guest.name.empty() && (guest.attaches || guest.stays)) {
    return Error{"it says no name to be kept under"};
  }
  return ok_status();
}

}  // namespace

bool is_guest_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostGuestName && name[0] != '.' &&
         is_name(name) && name.find('/') == std::string_view::npos;
}

Result<Guest> read_guest(const net::Message& hello, const std::string& table) {
  const auto version = net::number(hello, "version");
  if (!version.ok()) return version.error();
  if (version.value() != net::kWireVersion ||
      net::text(hello, "table") != table) {
    return Error{
        "it is of another version of gt; install the same gt on both sides"};
  }
  net::NumberReader numbers(hello);
  Guest guest;
  guest.user = net::text(hello, "user");
  guest.seed = static_cast<int64_t>(numbers.find("seed"));
  guest.history = numbers.find("history", 1'000'000);
  guest.fails_fast = numbers.find("fail_fast") != 0;
  guest.replays = numbers.find("replay", 1) != 0;
  guest.name = net::text(hello, "keep");
  guest.attaches = numbers.find("attach") != 0;
  guest.stays = numbers.find("stay") != 0;
  guest.visit = numbers.find("visit");
  guest.results = numbers.find("results");
  guest.reports = numbers.find("reports");
  if (!numbers.status().ok()) return numbers.status().error();
  if (const Status checked = check(guest); !checked.ok()) {
    return checked.error();
  }
  return guest;
}

}  // namespace gt::serve
