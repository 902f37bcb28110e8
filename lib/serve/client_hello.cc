#include "serve/client_hello.h"

#include "base/message.h"
#include "net/keys.h"
#include "stream/line.h"

namespace gt::serve {
namespace {

constexpr size_t kMostClientName = 64;  // bytes

Status check(const ClientHello& hello) {
  if (!net::is_user_name(hello.user)) {
    return Error{"'" + excerpt(hello.user) + "' is no name for a user"};
  }
  if (!hello.name.empty() && !is_client_name(hello.name)) {
    return Error{"'" + excerpt(hello.name) + "' is no name for a client"};
  }
  if (hello.name.empty() && (hello.attaches || hello.stays)) {
    return Error{"it says no name to be kept under"};
  }
  return ok_status();
}

}  // namespace

bool is_client_name(std::string_view name) {
  return !name.empty() && name.size() <= kMostClientName && name[0] != '.' &&
         is_name(name) && name.find('/') == std::string_view::npos;
}

std::string write_client_hello(const ClientHello& hello,
                               const std::string& table) {
  net::MessageWriter message(net::Verb::kHello);
  message.field("version", uint64_t{net::kWireVersion})
      .field("table", table)
      .field("user", hello.user)
      .field("seed", static_cast<uint64_t>(hello.seed))
      .field("history", hello.history)
      .field("fail_fast", uint64_t{hello.fails_fast})
      .field("replay", uint64_t{hello.replays});
  if (!hello.name.empty()) {
    message.field("keep", hello.name)
        .field("attach", uint64_t{hello.attaches})
        .field("stay", uint64_t{hello.stays});
  }
  if (hello.visit != 0) {
    message.field("visit", hello.visit)
        .field("results", hello.results)
        .field("reports", hello.reports);
  }
  return message.finish();
}

Result<ClientHello> read_client_hello(const net::Message& message,
                                      const std::string& table) {
  const auto version = net::number(message, "version");
  if (!version.ok()) return version.error();
  if (version.value() != net::kWireVersion || message.text("table") != table) {
    return Error{
        "it is of another version of gt; install the same gt on both sides"};
  }
  net::NumberReader numbers(message);
  ClientHello hello;
  hello.user = message.text("user");
  hello.seed = static_cast<int64_t>(numbers.find("seed"));
  hello.history = numbers.find("history", 1'000'000);
  hello.fails_fast = numbers.find("fail_fast") != 0;
  hello.replays = numbers.find("replay", 1) != 0;
  hello.name = message.text("keep");
  hello.attaches = numbers.find("attach") != 0;
  hello.stays = numbers.find("stay") != 0;
  hello.visit = numbers.find("visit");
  hello.results = numbers.find("results");
  hello.reports = numbers.find("reports");
  if (!numbers.status().ok()) return numbers.status().error();
  if (const Status checked = check(hello); !checked.ok()) {
    return checked.error();
  }
  return hello;
}

}  // namespace gt::serve
